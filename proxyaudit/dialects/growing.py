"""Read bodies that grow: what a body shares with an earlier one is not read again.

A harness sends the whole history with every turn, so that each body begins like the one before.
The messages that both have, byte for byte, are the same Python objects in both values: whoever
made something of one of them (`Memo`) finds it again by identity. A session of N turns then costs
what is new in it, not N times its history.

It makes no difference to the value: `GrowingReader().parse(data)` equals `parse_json(data)`.
"""

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from pydantic_core import from_json

from proxyaudit.core.json import JSON
from proxyaudit.dialects.fields import parse_json

LISTS = ("messages", "input", "contents")
"""The fields of a request body that hold a history, in any dialect."""

KEPT = 64
LIMIT = 64 * 1024 * 1024
"""So many bodies, and bytes of them at most, are kept to compare with: agents take turns."""

# Shorter bodies are read faster than they are compared.
_SHORT = 2048
_SPACE = " \t\n\r"
# What the decoder itself calls to read one value; typeshed does not know of it.
_scan: Callable[[str, int], tuple[JSON, int]] = json.JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where the list of a body is: its key, where its first element may begin, where each ends."""

    key: str
    start: int
    ends: list[int]


@dataclass(frozen=True, eq=False)
class _Body:
    """A body that was read: its bytes and its value."""

    data: bytes
    value: dict[str, JSON]
    known: _Cut | None = None

    @cached_property
    def cut(self) -> _Cut | None:
        return self.known or _cut(self.data, self.value)

    def items(self, cut: _Cut) -> list[JSON]:
        found = self.value[cut.key]
        return found if isinstance(found, list) else []


class GrowingReader:
    """Parses one body after another; safe to share between threads."""

    def __init__(self, kept: int = KEPT, limit: int = LIMIT) -> None:
        self._bodies: deque[_Body] = deque()
        self._kept = kept
        self._limit = limit
        self._lock = Lock()

    def parse(self, data: bytes) -> JSON:
        """The JSON value of a body; ValueError if it is none."""
        if len(data) < _SHORT:
            return parse_json(data)
        with self._lock:
            bodies = list(self._bodies)
        shared = [(_shared(body.data, data), body) for body in bodies]
        length, base = max(shared, key=lambda pair: pair[0], default=(0, None))
        made = _extended(base, length, data) if base and length >= _SHORT else None
        if made is None:
            value = parse_json(data)
            if not isinstance(value, dict):
                return value
            made = _Body(data, value)
        with self._lock:
            self._keep(made, base if made.known else None)
        return dict(made.value)

    def _keep(self, made: _Body, base: _Body | None) -> None:
        """The newest stands for the one that it goes on from, unless it kept little of it."""
        if base and base in self._bodies and _stands_for(made, base):
            self._bodies.remove(base)
        self._bodies.appendleft(made)
        while self._bodies and (
            len(self._bodies) > self._kept or sum(len(b.data) for b in self._bodies) > self._limit
        ):
            self._bodies.pop()


def _stands_for(made: _Body, base: _Body) -> bool:
    if made.known is None or base.cut is None:
        return False
    return len(made.known.ends) * 2 >= len(base.cut.ends)


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two bodies have in common at their start."""
    low, high = 0, min(len(one), len(other))
    if one[:_SHORT] != other[:_SHORT]:
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _extended(base: _Body, length: int, data: bytes) -> _Body | None:
    """Read a body that begins like `base`: only what comes after the elements that both have.

    None if it has to be read as a whole.
    """
    cut = base.cut
    number = bisect_right(cut.ends, length) if cut else 0
    if not cut or not number:
        return None
    at = cut.ends[number - 1]
    if data.find(b'"%s"' % cut.key.encode(), at) >= 0:
        return None  # perhaps the same key once more
    tail = data[at:].decode("latin-1")
    first = _next_element(tail)
    if first is None:
        return None
    try:
        value = from_json(data[: cut.start] + data[at + first :])
        ends = _element_ends(tail, first)
    except (ValueError, StopIteration, RecursionError):
        return None
    more = value.get(cut.key) if isinstance(value, dict) else None
    if not isinstance(more, list) or len(more) != len(ends):
        return None
    value[cut.key] = base.items(cut)[:number] + more
    known = _Cut(cut.key, cut.start, cut.ends[:number] + [at + end for end in ends])
    return _Body(data, value, known)


def _next_element(tail: str) -> int | None:
    """Where, after an element, the next one begins, or the bracket that closes the list."""
    at = _after_space(tail, 0)
    if tail[at : at + 1] == "]":
        return at
    if tail[at : at + 1] != ",":
        return None
    at = _after_space(tail, at + 1)
    return None if tail[at : at + 1] in ("]", "") else at


def _element_ends(text: str, at: int) -> list[int]:
    """Where each element of a list ends, from its first element on, up to the closing bracket.

    Elements are objects. Anything else raises ValueError, or what the scanner raises.
    """
    ends: list[int] = []
    at = _after_space(text, at)
    while text[at : at + 1] != "]":
        if text[at : at + 1] != "{":
            raise ValueError("no object")
        _, at = _scan(text, at)
        ends.append(at)
        at = _after_space(text, at)
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
    return ends


def _cut(data: bytes, value: dict[str, JSON]) -> _Cut | None:
    """Find the list in a body that is known to be JSON. None if there is none, or not as expected.

    Bytes are taken for letters, one by one: the marks of JSON are the same in both.
    """
    text = data.decode("latin-1")
    try:
        at = _after_space(text, 0) + 1
        while True:
            key, at = _scan(text, _after_space(text, at))
            at = _after_space(text, _after_space(text, at) + 1)
            if key in LISTS and text[at] == "[":
                ends = _element_ends(text, at + 1)
                items = value.get(key)
                whole = isinstance(items, list) and len(items) == len(ends)
                return _Cut(key, at + 1, ends) if whole else None
            _, at = _scan(text, at)
            at = _after_space(text, at) + 1
    except (ValueError, StopIteration, RecursionError, IndexError):
        return None


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACE and at < len(text):
        at += 1
    return at
