"""What was read before is not read again: a growing history costs its new messages only.

A harness sends the whole history with every turn. The same JSON at the same place always reads the
same, so messages are kept by place and wire digest, and turns share them (and their digests). The
same object (`GrowingReader` gives it for equal bytes) is found again without a look inside.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from proxyaudit.core.history import shared
from proxyaudit.core.json import JSON
from proxyaudit.core.message import digest
from proxyaudit.dialects.fields import dump

LIMIT = 64 * 1024 * 1024
"""A memo stands for so many characters of JSON; what was not used for longest goes first."""

# A list shorter than this is read as fast as it is looked up.
_LONG = 8
_LISTS = 16

type _Here = tuple[str | int, ...]


class Memo[T]:
    """Remembers what a pure reader made of a JSON value at a pointer."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[int, T]] = OrderedDict()
        # The value is kept beside what was made of it, or another could take over its id.
        self._seen: dict[_Here, tuple[JSON, T]] = {}
        self._limit = self._room = self._room_seen = limit
        self._lock = Lock()

    def read(
        self,
        value: JSON,
        pointer: str,
        reader: Callable[[str], T],
        pieces: Sequence[JSON] | None = None,
    ) -> T:
        """What `reader` makes of the value; it gets the wire digest of the value.

        `pieces` are the elements of a list that was put together for this call: they are known
        again where the list is not.
        """
        here: _Here = (pointer, *(id(p) for p in (pieces or (value,))))
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

    def _see(self, here: _Here, size: int, seen: tuple[JSON, T]) -> None:
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


@dataclass(frozen=True, slots=True, eq=False)
class _Read[T]:
    """A list that was read: its elements, and what was made of each."""

    pointer: str
    items: list[JSON]
    made: list[T]


class Series[T]:
    """Reads the elements of a list, and of a list that goes on from an earlier one the new ones.

    `reader` gets an element and its pointer, and is pure.
    """

    def __init__(self, reader: Callable[[JSON, str], T]) -> None:
        self._reader = reader
        self._known: deque[_Read[T]] = deque(maxlen=_LISTS)

    def read(self, items: list[JSON], pointer: str) -> tuple[T, ...]:
        """What was made of each element; `pointer` is that of the list."""
        base, done = None, 0
        for known in sorted(self._known, key=lambda known: -len(known.items)):
            if known.pointer == pointer and (same := shared(known.items, items)) > done:
                base, done = known, same
                if same == len(known.items):
                    break
        new = [self._reader(items[n], f"{pointer}/{n}") for n in range(done, len(items))]
        made = (base.made[:done] if base else []) + new
        if new and len(items) >= _LONG:
            self._keep(_Read(pointer, list(items), made), base, done)
        return tuple(made)

    def _keep(self, read: _Read[T], base: _Read[T] | None, done: int) -> None:
        """The longer list stands for the one that it goes on from."""
        if base and done == len(base.items):
            with suppress(ValueError):  # another thread was faster
                self._known.remove(base)
        self._known.appendleft(read)
