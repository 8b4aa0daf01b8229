"""The scanner of large documents: any cutting, any tearing, any bytes."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.store.elements import array_objects, keys_of

PATH = ("log", "entries")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.lists(st.dictionaries(st.text(), JSON_VALUES, max_size=4), max_size=5)


def cut_up(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def found(pieces: list[bytes]) -> tuple[list[Any], list[str]]:
    faults: list[str] = []
    return [json.loads(raw) for raw in array_objects(pieces, PATH, faults)], faults


@given(
    objects=OBJECTS, before=JSON_VALUES, size=st.integers(1, 40), indent=st.sampled_from([None, 1])
)
def test_objects_come_back_whatever_stands_around_and_however_it_is_cut(
    objects: list[Any], before: Any, size: int, indent: int | None
) -> None:
    """Decoys too: an array of this name elsewhere is another one."""
    document = {"entries": [{"no": 1}], "a": before, "log": {"b": before, "entries": objects}}
    raw = json.dumps(document, indent=indent).encode()
    assert found(cut_up(raw, size)) == (objects, [])


@given(objects=OBJECTS, data=st.data())
def test_a_torn_document_gives_its_whole_objects_and_says_so(
    objects: list[Any], data: st.DataObject
) -> None:
    raw = json.dumps({"log": {"entries": objects}}).encode()
    end = data.draw(st.integers(1, len(raw) - 1))
    read, faults = found([raw[:end]])
    assert read == objects[: len(read)]
    assert len(faults) == 1
    assert faults[0].startswith("torn at its end")


@given(raw=st.binary(max_size=300) | st.text('{}[]",:\\log entries', max_size=300).map(str.encode))
def test_any_bytes_are_read_without_an_exception(raw: bytes) -> None:
    list(array_objects([raw], PATH, []))
    keys_of(raw)


def test_a_long_string_in_small_pieces_takes_time_by_its_length() -> None:
    """Eight megabytes in pieces of 4 KB: searched anew for each piece it would take minutes."""
    entry = {"text": '"' * (4 << 20)}
    raw = json.dumps({"log": {"entries": [entry]}}).encode()
    assert found(cut_up(raw, 4096))[0] == [entry]


def test_keys_are_told_with_those_of_the_objects_right_in_them() -> None:
    head = b'{"a": {"b": [{"x": 1}], "c": {"y": 2}}, "d": [{"z": 3}], "e": "to'
    assert keys_of(head) == {"a": ["b", "c"], "d": [], "e": []}
