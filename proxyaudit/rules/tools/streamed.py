"""The pieces of streamed calls, put into calls without repairing what a server sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic_core import from_json

from proxyaudit.core.turn import CallDelta

_NOTHING = frozenset({"null", "none", "undefined", "nil"})


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
    """The pieces that one call came in; `after` is the call whose index it took, if it took one."""

    pieces: list[CallDelta] = field(default_factory=list)
    after: "Streamed | None" = None

    @property
    def id(self) -> str:
        return next((p.id for p in self.pieces if p.id), "")

    @property
    def arguments(self) -> str:
        return "".join(p.arguments or "" for p in self.pieces)

    @property
    def names(self) -> list[CallDelta]:
        """The pieces that bear a name."""
        return [p for p in self.pieces if p.name]


def streamed_calls(deltas: Sequence[CallDelta]) -> list[Streamed]:
    """The calls of a stream in order. A piece without an index belongs to its id, or to the last
    call."""
    calls: list[Streamed] = []
    by_index: dict[int, Streamed] = {}
    for delta in deltas:
        call = by_index.get(delta.index) if delta.index is not None else _by_id(calls, delta)
        if call is None or _begins_another(call, delta):
            call = Streamed(after=call)
            calls.append(call)
        call.pieces.append(delta)
        if delta.index is not None:
            by_index[delta.index] = call
    return calls


def collisions(deltas: Sequence[CallDelta]) -> Iterator[Streamed]:
    """Calls that began under an index that another call already had."""
    for call in streamed_calls(deltas):
        if call.after is not None and call.pieces[0].index is not None:
            yield call


def _by_id(calls: Sequence[Streamed], delta: CallDelta) -> Streamed | None:
    if not calls or not delta.id:
        return calls[-1] if calls and not delta.name else None
    return next((call for call in reversed(calls) if call.id == delta.id), None)


def _begins_another(call: Streamed, delta: CallDelta) -> bool:
    """A new call: another id and a name, or a name and a new object where one is complete."""
    new_id = bool(delta.id and call.id and delta.id != call.id)
    named = bool(delta.name) and not is_nothing(delta.name or "")
    sofar = call.arguments
    complete = is_object(sofar)
    fresh = (delta.arguments or "").lstrip().startswith("{")
    if new_id and named:
        return complete or not sofar.strip()
    return complete and fresh and (new_id or named)
