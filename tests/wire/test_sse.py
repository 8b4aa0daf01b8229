"""The decoder of event streams: lawful streams are silent, faults are told."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk
from proxyaudit.core.turn import StreamEvent
from proxyaudit.wire.sse import SseDecoder, decode, looks_like_sse


def texts(body: bytes) -> list[str]:
    return [event.data for event in decode(body, (), False)[0]]


def kinds(body: bytes) -> list[tuple[str, int]]:
    return [(fault.kind, fault.event) for fault in decode(body, (), False)[1]]


def in_pieces(body: bytes, cuts: list[int]) -> SseDecoder:
    decoder = SseDecoder()
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in itertools.pairwise(edges):
        decoder.feed(body[start:end])
    decoder.close()
    return decoder


LINES = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        b"data",
        b"event: ping",
        b": note",
        b"id: 7",
        b"retry: 5",
        b"",
        b"",
        "data: Zürich — 🚢".encode(),
        b"data: \xc3",
        b'{"x": 1}',
        b"\xef\xbb\xbfdata: c",
        b"da",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


def joined(rows: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join(line + end for line, end in rows)


BODIES = st.one_of(
    st.lists(st.tuples(LINES, ENDS), max_size=12).map(joined),
    st.binary(max_size=60),
)


@given(body=BODIES, tail=st.sampled_from([b"", b"data: torn", b"\r", b": x"]), data=st.data())
def test_the_result_does_not_depend_on_how_the_bytes_are_cut(
    body: bytes, tail: bytes, data: st.DataObject
) -> None:
    whole = body + tail
    cuts = data.draw(st.lists(st.integers(0, 200), max_size=12))
    events, faults = decode(whole, (), False)
    pieces = in_pieces(whole, cuts)
    assert (pieces.events, pieces.faults) == (events, faults)


@given(body=BODIES)
def test_events_are_numbered_from_zero(body: bytes) -> None:
    events, _ = decode(body, (), False)
    assert [event.number for event in events] == list(range(len(events)))


def test_every_line_end_and_a_byte_order_mark_are_lawful() -> None:
    body = b"\xef\xbb\xbfevent: one\r\ndata: 1\r\n\r\ndata: 2\rdata: 3\r\r: note\n\ndata:4\n\n"
    events, faults = decode(body, (), False)
    assert [(event.name, event.data) for event in events] == [("one", "1"), ("", "2\n3"), ("", "4")]
    assert faults == []


def test_an_event_without_data_is_lawful_and_no_event() -> None:
    assert texts(b"event: ping\n\nid: 3\n\ndata: x\n\n") == ["x"]
    assert kinds(b"event: ping\n\nid: 3\n\ndata: x\n\n") == []


def test_the_name_of_an_event_without_data_does_not_stick_to_the_next() -> None:
    assert decode(b"event: ping\n\ndata: x\n\n", (), False)[0][0].name == ""


def test_bad_bytes_in_data_are_told_with_the_number_of_their_event() -> None:
    body = b"data: fine\n\ndata: Z\xc3rich\n\n"
    assert texts(body) == ["fine", "Z\ufffdrich"]
    assert kinds(body) == [("bad_utf8", 1)]
    assert decode(body, (), False)[1][0].detail == r"Z\xc3rich"


def test_a_line_that_is_no_field_is_told() -> None:
    assert kinds(b'data: 1\n\n{"error": "plain"}\n\n') == [("bad_line", 1)]


def test_a_stream_that_ends_inside_an_event_is_torn_and_keeps_what_came() -> None:
    body = b'data: 1\n\ndata: {"text": "ha'
    assert texts(body) == ["1", '{"text": "ha']
    assert kinds(body) == [("torn", 1)]


def test_a_sentinel_without_its_blank_line_is_given_out_and_told() -> None:
    assert texts(b"data: [DONE]\n") == ["[DONE]"]
    assert kinds(b"data: [DONE]\n") == [("torn", 0)]


def test_a_torn_end_inside_a_letter_is_torn_and_not_corrupt() -> None:
    assert kinds(b"data: Z\xc3") == [("torn", 0)]


def test_an_unfinished_comment_at_the_end_is_no_fault() -> None:
    assert kinds(b"data: 1\n\n: still her") == []


def test_an_event_has_the_time_of_the_chunk_that_completed_it() -> None:
    first, second = "data: Zü".encode()[:-1], "ü".encode()[1:] + b"\n\ndata: 2\n\n"
    chunks = [Chunk(0.5, len(first)), Chunk(0.9, len(second))]
    events, faults = decode(first + second, chunks, True)
    assert events == [StreamEvent(0, 0.9, "", "Zü"), StreamEvent(1, 0.9, "", "2")]
    assert faults == []


def test_without_observed_times_an_event_has_none() -> None:
    body = b"data: 1\n\n"
    assert decode(body, [Chunk(0.5, len(body))], False)[0][0].at is None
    assert decode(body, [], True)[0][0].at is None


def test_a_stream_is_known_by_its_first_bytes() -> None:
    assert looks_like_sse(b"\n: ping\n\n")
    assert looks_like_sse(b"data: {}\n\n")
    assert not looks_like_sse(b'{"data": 1}')
    assert not looks_like_sse(b"<html>")
