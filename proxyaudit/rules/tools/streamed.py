"""The pieces of streamed calls, put into calls without repairing what a server sent."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic_core import from_json

from proxyaudit.core.turn import CallDelta

_NOTHING = frozenset({"null", "none", "undefined", "nil"})
# What opens and closes in JSON. An escaped letter is one mark, a backslash alone ends a piece.
_MARKS = re.compile(r'\\.|\\\Z|["{}\[\]]', re.DOTALL)


def is_nothing(name: str) -> bool:
    """Whether a name is a word that stands for no value."""
    return name.strip().lower() in _NOTHING


def is_object(arguments: str) -> bool:
    """Whether a text is exactly one JSON object."""
    try:
        return isinstance(from_json(arguments), dict)
    except ValueError:
        return False


@dataclass(slots=True)
class Streamed:
    """The pieces that one call came in; `after` is the call whose index it took, if it took one.

    `id` is the first id that a piece bore; `blank` says that no arguments came but white space.
    """

    pieces: list[CallDelta] = field(default_factory=list)
    after: "Streamed | None" = None
    id: str = ""
    blank: bool = True
    _depth: int = 0
    _quoted: bool = False
    _escaped: bool = False
    _never: bool = False

    def add(self, delta: CallDelta) -> None:
        self.pieces.append(delta)
        self.id = self.id or delta.id or ""
        if delta.arguments:
            self.blank = self.blank and not delta.arguments.strip()
            self._follow(delta.arguments)

    def _follow(self, piece: str) -> None:
        """Keep count of open brackets, piece by piece: cost grows with the new letters alone."""
        for mark in _MARKS.findall("\\" + piece if self._escaped else piece):
            if mark == '"':
                self._quoted = not self._quoted
            elif not self._quoted and mark in "{[":
                self._depth += 1
            elif not self._quoted and mark in "}]":
                self._depth -= 1
            self._escaped = mark == "\\"

    @property
    def arguments(self) -> str:
        return "".join(p.arguments or "" for p in self.pieces)

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are one object. Read only where all brackets are closed, and
        never again once that was none: more letters cannot mend it."""
        if self._never or self.blank or self._depth or self._quoted:
            return False
        whole = is_object(self.arguments)
        self._never = not whole
        return whole

    @property
    def names(self) -> list[CallDelta]:
        """The pieces that bear a name."""
        return [p for p in self.pieces if p.name]


def streamed_calls(deltas: Sequence[CallDelta]) -> list[Streamed]:
    """The calls of a stream in order. A piece without an index belongs to its id, or to the last
    call."""
    calls: list[Streamed] = []
    by_index: dict[int, Streamed] = {}
    by_id: dict[str, Streamed] = {}
    for delta in deltas:
        last = calls[-1] if calls else None
        call = by_index.get(delta.index) if delta.index is not None else _meant(delta, by_id, last)
        if call is None or _begins_another(call, delta):
            call = Streamed(after=call)
            calls.append(call)
        if not call.id and delta.id:
            by_id[delta.id] = call
        call.add(delta)
        if delta.index is not None:
            by_index[delta.index] = call
    return calls


def collisions(deltas: Sequence[CallDelta]) -> Iterator[Streamed]:
    """Calls that began under an index that another call already had."""
    for call in streamed_calls(deltas):
        if call.after is not None and call.pieces[0].index is not None:
            yield call


def _meant(
    delta: CallDelta, by_id: Mapping[str, Streamed], last: Streamed | None
) -> Streamed | None:
    """The call of a piece without an index."""
    if delta.id:
        return by_id.get(delta.id)
    return None if delta.name else last


def _begins_another(call: Streamed, delta: CallDelta) -> bool:
    """A new call: another id and a name, or a name and a new object where one is complete."""
    new_id = bool(delta.id and call.id and delta.id != call.id)
    named = bool(delta.name) and not is_nothing(delta.name or "")
    if new_id and named:
        return call.blank or call.complete
    fresh = (delta.arguments or "").lstrip().startswith("{")
    return fresh and (new_id or named) and call.complete
