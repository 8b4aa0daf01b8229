"""A body that grows is read as if it were read alone, whatever it shares with earlier ones."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from proxyaudit.core.json import JSON
from proxyaudit.dialects.fields import parse_json
from proxyaudit.dialects.growing import GrowingReader

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6)
CONTENT = st.recursive(
    SCALARS | st.sampled_from(['"messages"', "]}", "\\", "ä€😀", "x" * 3000]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
ELEMENT = st.dictionaries(st.sampled_from(["role", "content", "messages"]), CONTENT, max_size=3)
KEYS = st.sampled_from(["messages", "input", "contents"])
HEAD = "long enough to be worth it " * 100


@st.composite
def growth(draw: st.DrawFn) -> list[bytes]:
    """Bodies of one agent: histories that grow, are cut and rewritten, in one way of writing."""
    key = draw(KEYS)
    compact = draw(st.booleans())
    separators = (",", ":") if compact else (", ", ": ")
    items: list[Any] = draw(st.lists(ELEMENT | SCALARS, max_size=4))
    bodies = []
    for _ in range(draw(st.integers(1, 5))):
        items = items[: draw(st.integers(0, len(items) + 3))]
        items += draw(st.lists(ELEMENT, max_size=3))
        body = {"model": HEAD, key: items, "tools": draw(CONTENT)}
        text = json.dumps(body, ensure_ascii=draw(st.booleans()), separators=separators)
        bodies.append(text.encode())
    return bodies


@given(growth())
def test_every_body_has_the_value_it_has_alone(bodies: list[bytes]) -> None:
    reader = GrowingReader()
    for body in bodies:
        assert reader.parse(body) == from_json(body)


@given(growth(), st.data())
def test_a_body_torn_or_changed_anywhere_reads_or_fails_as_it_does_alone(
    bodies: list[bytes], data: st.DataObject
) -> None:
    reader = GrowingReader()
    for body in bodies:
        reader.parse(body)
    last = bodies[-1]
    at = data.draw(st.integers(0, len(last)))
    junk = data.draw(st.sampled_from([b"", b",", b"]", b"}", b'"', b"{}", b"1", b"\xff", b" "]))
    broken = last[:at] + junk + last[at + data.draw(st.integers(0, 1)) :]
    assert _outcome(reader.parse, broken) == _outcome(parse_json, broken)


def _outcome(parse: Callable[[bytes], JSON], data: bytes) -> JSON:
    try:
        return parse(data)
    except ValueError:
        return "no JSON"


def _chat(*contents: str) -> bytes:
    messages = [{"role": "user", "content": text} for text in contents]
    return json.dumps({"model": HEAD, "messages": messages, "tools": []}).encode()


def test_what_two_bodies_share_is_the_same_object() -> None:
    reader = GrowingReader()
    one: Any = reader.parse(_chat("a", "b"))
    two: Any = reader.parse(_chat("a", "b", "c"))
    assert [m["content"] for m in two["messages"]] == ["a", "b", "c"]
    assert all(x is y for x, y in zip(one["messages"], two["messages"], strict=False))


def test_agents_that_take_turns_each_go_on_from_their_own() -> None:
    reader = GrowingReader()
    first = [reader.parse(_chat(name, name)) for name in ("left", "right")]
    again: list[Any] = [reader.parse(_chat(name, name, "more")) for name in ("left", "right")]
    for before, after in zip(first, again, strict=True):
        assert before["messages"][1] is after["messages"][1]  # type: ignore[index, call-overload]


def test_a_second_list_under_the_same_key_wins_as_it_does_alone() -> None:
    reader = GrowingReader()
    reader.parse(_chat("a", "b"))
    twice = _chat("a", "b", "c")[:-1] + b', "messages": [1, 2, 3]}'
    assert reader.parse(twice) == from_json(twice)


def test_only_so_many_bytes_are_kept() -> None:
    reader = GrowingReader(limit=10_000)
    one: Any = reader.parse(_chat("a"))
    reader.parse(_chat("b" * 9_000))
    two: Any = reader.parse(_chat("a", "c"))
    assert one["messages"][0] is not two["messages"][0]
