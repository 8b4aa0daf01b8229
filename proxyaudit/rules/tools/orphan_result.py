"""tool.orphan_result"""

from collections.abc import Iterator
from typing import NamedTuple

from proxyaudit.core.finding import Skip
from proxyaudit.core.history import Fold
from proxyaudit.core.message import Message, ToolCall, ToolResult
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import keeps_history_elsewhere
from proxyaudit.rules.wording import count, excerpt


@rule("tool.orphan_result", severity="error", on=Turn)
def orphan_result(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Tool result without a matching call before it.

    What it does
        Walks through the history of one request and reports every result whose call id was not
        given by a call earlier in the same history. Where the server keeps a part of the history
        (`previous_response_id`), the call may be there, and the rule is skipped.

    Why it matters
        Strict servers refuse the request with 400. Lenient ones show the model an answer to a
        question that it cannot see, and it makes up the question.

    Example
        Bad: [system, tool {"tool_call_id": "k-1"}, user]: trimming removed the call.
        Good: [system, assistant {"tool_calls": [{"id": "k-1", …}]}, tool {"tool_call_id": "k-1"}]

    What to look at next
        Whatever trims the history: it has to keep a call and its results together. If only the
        upstream tap shows it, the proxy trims.
    """
    orphans = _seen(turn.prompt.messages).orphans
    if not orphans:
        return
    if keeps_history_elsewhere(turn.prompt):
        yield Skip("a part of the history is kept by the server")
        return
    ids = ", ".join(r.call_id or "(no id)" for r in orphans[:3])
    answer = "answers no call" if len(orphans) == 1 else "answer no calls"
    yield Found(
        f"{count(len(orphans), 'tool result')} {answer} made before: {ids}",
        places=tuple(at(turn, "request", r.pointer) for r in orphans),
        evidence={"call_id": orphans[0].call_id, "text": excerpt(orphans[0].text)},
    )


class _Seen(NamedTuple):
    """The ids of the calls so far, and the results that answer none of them."""

    known: frozenset[str] = frozenset()
    orphans: tuple[ToolResult, ...] = ()


def _step(state: _Seen, message: Message) -> _Seen:
    if not message.ids:
        return state
    known, orphans = set(state.known), state.orphans
    for part in message.parts:
        if isinstance(part, ToolCall):
            known.add(part.id)
        elif isinstance(part, ToolResult) and part.call_id not in known:
            orphans = (*orphans, part)
    return _Seen(frozenset(known) if message.calls else state.known, orphans)


_seen = Fold(_Seen(), _step)
