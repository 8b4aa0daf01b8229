"""tool.name_invalid"""

from collections.abc import Iterator

from proxyaudit.core.message import ToolCall
from proxyaudit.core.turn import CallDelta, Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import event_place, not_whole, whole
from proxyaudit.rules.tools.offered import names, names_are_known
from proxyaudit.rules.tools.streamed import Streamed, is_nothing, streamed_calls


@rule("tool.name_invalid", severity="error", on=Turn)
def name_invalid(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Call name empty, 'null', repeated, or not among the offered tools.

    What it does
        Looks at the name of every call in a reply, and at every piece of a streamed one: a name may
        come in pieces, but a later piece must neither repeat it nor say "null". Whether a name was
        offered is judged only where the request offers tools, and all of them by name.

    Why it matters
        The harness cannot find the tool. Clients that add up the pieces see `get_tideget_tide` or
        `get_tidenull`; some drop the call, some rename it and tell the model off.

    Example
        Bad: {"name": "list_dir", …} and in a later piece {"name": "null", "arguments": "…"}
        Good: {"name": "list_dir", …} and in a later piece {"arguments": "…"}

    What to look at next
        The raw stream. If the name is whole but not on offer, compare the tools at the two taps.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    deltas = reply.stream.call_deltas if reply.stream else ()
    calls = streamed_calls(deltas)
    for call in message.calls:
        if problem := _wrong_name(call, turn):
            started = next((s.pieces[0] for s in calls if call.id and s.id == call.id), None)
            here = event_place(turn, started.event) if started else None
            place = here or at(turn, "response", call.pointer)
            yield Found(problem, places=(place,), evidence={"name": call.name, "id": call.id})
    for streamed in calls:
        if piece := _wrong_piece(streamed, names(turn.prompt)):
            yield Found(
                f"a later piece of a streamed call gives the name {piece.name!r} again"
                if not is_nothing(piece.name or "")
                else f"a later piece of a streamed call gives {piece.name!r} as its name",
                places=(event_place(turn, piece.event),),
                before=(event_place(turn, streamed.pieces[0].event),),
                evidence={"name": piece.name, "id": streamed.id},
            )


def _wrong_name(call: ToolCall, turn: Turn) -> str | None:
    name, offered = call.name.strip(), names(turn.prompt)
    if not name:
        return "a call has no name"
    if call.name in offered:
        return None
    if is_nothing(name):
        return f"a call has the name {name!r}"
    if not names_are_known(turn.prompt):
        return None
    twice = any(name == 2 * other for other in offered if other)
    return f"a call names {name!r}, " + (
        "the name of a tool twice over" if twice else "which is not among the offered tools"
    )


def _wrong_piece(call: Streamed, offered: frozenset[str]) -> CallDelta | None:
    """A piece that names the call once more, or names it with a word for nothing."""
    if not call.names or "".join(p.name or "" for p in call.names) in offered:
        return None
    first, *later = call.names
    return next((p for p in later if is_nothing(p.name or "") or p.name == first.name), None)
