"""The decoder of JSON lines and of arrays that grow: lawful streams are silent, faults are told."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk
from proxyaudit.wire.ndjson import LineDecoder, decode_array, decode_lines


def lines(body: bytes) -> tuple[list[str], list[tuple[str, int]]]:
    events, faults = decode_lines(body, (), False)
    return [e.data for e in events], [(f.kind, f.event) for f in faults]


def elements(body: bytes) -> tuple[list[str], list[tuple[str, int]]]:
    events, faults = decode_array(body, (), False)
    return [e.data for e in events], [(f.kind, f.event) for f in faults]


@pytest.mark.parametrize(
    "body", [b'{"a":1}\n{"b":2}\n', b'{"a":1}\r\n\r\n  {"b":2} \r\n', b'{"a":1}\n{"b":2}']
)
def test_lawful_lines_are_silent(body: bytes) -> None:
    """With either line end, empty lines, and a last line without its end."""
    assert lines(body) == (['{"a":1}', '{"b":2}'], [])


def test_a_torn_line_is_told_and_kept() -> None:
    assert lines(b'{"a":1}\n{"b":') == (['{"a":1}', '{"b":'], [("torn", 1)])


def test_bytes_that_are_no_text_are_told() -> None:
    assert lines(b'{"a":"\xff"}\n') == (['{"a":"\ufffd"}'], [("bad_utf8", 0)])
    assert elements(b'[{"a":"\xff"}]') == (['{"a":"\ufffd"}'], [("bad_utf8", 0)])


def test_a_line_has_the_time_of_the_chunk_that_completed_it() -> None:
    body = b'{"a":1}\n{"b":2}\n'
    chunks = (Chunk(1.0, 3), Chunk(2.0, 9), Chunk(3.0, 4))
    assert [e.at for e in decode_lines(body, chunks, True)[0]] == [2.0, 3.0]
    assert [e.at for e in decode_lines(body, chunks, False)[0]] == [None, None]


@given(st.lists(st.binary(max_size=9), max_size=5), st.lists(st.integers(0, 60), max_size=5))
def test_lines_do_not_depend_on_how_bytes_are_cut(pieces: list[bytes], cuts: list[int]) -> None:
    body = b"\n".join(pieces)
    decoder = LineDecoder()
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in itertools.pairwise(edges):
        decoder.feed(body[start:end])
    decoder.close()
    assert (decoder.events, decoder.faults) == decode_lines(body, (), False)


@pytest.mark.parametrize(
    ("body", "found", "faults"),
    [
        (b"[]", [], []),
        ('[{"a": "]é"},\r\n{"b":[1,2]}\n]\n'.encode(), ['{"a": "]é"}', '{"b":[1,2]}'], []),
        (b'[{"a":1},\n', ['{"a":1}'], [("torn", 1)]),
        (b'[{"a":1},{"b', ['{"a":1}'], [("torn", 1)]),
        (b"[" * 100_000, [], [("torn", 0)]),
    ],
)
def test_arrays(body: bytes, found: list[str], faults: list[tuple[str, int]]) -> None:
    assert elements(body) == (found, faults)


def test_an_element_has_the_time_of_the_chunk_that_completed_it() -> None:
    body = '[{"a":"é"},{"b":2}]'.encode()
    chunks = (Chunk(1.0, 9), Chunk(2.0, 3), Chunk(3.0, len(body) - 12))
    assert [e.at for e in decode_array(body, chunks, True)[0]] == [2.0, 3.0]
    assert [e.at for e in decode_array(body, (), True)[0]] == [None, None]


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=4)), max_size=4)
)
def test_an_array_gives_its_elements(values: list[dict[str, int | str]]) -> None:
    for text in (json.dumps(values), json.dumps(values, ensure_ascii=False, indent=1)):
        found, faults = elements(text.encode())
        assert [json.loads(element) for element in found] == values
        assert faults == []


@given(st.binary(max_size=30))
def test_no_bytes_raise(body: bytes) -> None:
    decode_lines(body, (), False)
    decode_array(b"[" + body, (Chunk(0.0, 1),), True)
