"""What was read before is not read again: a growing history costs its new messages only.

A harness sends the whole history with every turn. The same JSON at the same place always reads the
same, so messages are kept by place and wire digest, and turns share them (and their digests). The
same object (`GrowingReader` gives it for equal bytes) is found again without a look inside.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from proxyaudit.core.json import JSON
from proxyaudit.core.message import digest
from proxyaudit.dialects.fields import dump

LIMIT = 64 * 1024 * 1024
"""A memo stands for so many characters of JSON; what was not used for longest goes first."""


class Memo[T]:
    """Remembers what a pure reader made of a JSON value at a pointer."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[int, T]] = OrderedDict()
        # The value is kept beside what was made of it, or another could take over its id.
        self._seen: dict[tuple[str, int], tuple[JSON, T]] = {}
        self._limit = self._room = self._room_seen = limit
        self._lock = Lock()

    def read(self, value: JSON, pointer: str, reader: Callable[[str], T]) -> T:
        """What `reader` makes of the value; it gets the wire digest of the value."""
        here = (pointer, id(value))
        if (seen := self._seen.get(here)) is not None:
            return seen[1]
        text = dump(value)
        made = self._read(text, pointer, reader)
        if isinstance(value, dict | list):
            with self._lock:
                self._see(here, len(text), (value, made))
        return made

    def _read(self, text: str, pointer: str, reader: Callable[[str], T]) -> T:
        wire = digest(text)
        key = (pointer, wire)
        with self._lock:
            if (found := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return found[1]
        made = reader(wire)
        with self._lock:
            if key not in self._known:
                self._keep(key, len(text), made)
        return made

    def _see(self, here: tuple[str, int], size: int, seen: tuple[JSON, T]) -> None:
        """All go at once where there is no more room: they are found again by their text."""
        self._room_seen -= size
        if self._room_seen < 0:
            self._seen.clear()
            self._room_seen = self._limit - size
        if size <= self._limit:
            self._seen[here] = seen

    def _keep(self, key: tuple[str, str], size: int, made: T) -> None:
        self._known[key] = (size, made)
        self._room -= size
        while self._room < 0 and self._known:
            _, (freed, _) = self._known.popitem(last=False)
            self._room += freed
