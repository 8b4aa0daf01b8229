"""tool.unanswered_call"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from proxyaudit.core.history import Fold
from proxyaudit.core.message import Message, ToolCall
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.wording import count

# Which messages end the wait for a result. In chat completions the results have to follow at once;
# in Messages, text of the user may stand beside them; in Responses they may come anywhere later.
_ENDS_WAIT = {
    "openai-chat": frozenset({"user", "assistant"}),
    "ollama-chat": frozenset({"user", "assistant"}),
    "anthropic-messages": frozenset({"assistant"}),
    "gemini": frozenset({"assistant"}),
}


@rule("tool.unanswered_call", severity="error", on=Turn)
def unanswered_call(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Tool call with no result before the next user or assistant message.

    What it does
        Walks through the history of one request and looks for the result of every call. A call at
        the very end counts, too: the model is being asked while its tool has not answered. System
        messages may stand between.

    Why it matters
        Strict servers refuse the request with 400. Lenient ones let the model wait for, or invent,
        an answer that never came.

    Example
        Bad: assistant {"tool_calls": [{"id": "k-1"}, {"id": "k-2"}]}, tool k-1, user …
        Good: assistant {"tool_calls": [{"id": "k-1"}, {"id": "k-2"}]}, tool k-2, tool k-1, user …

    What to look at next
        Whether the harness lost the result (an interrupted tool, a parallel call), or the proxy
        dropped the message: compare the two taps.
    """
    open_calls = _open_calls(_ENDS_WAIT.get(turn.dialect, frozenset()))(turn.prompt.messages).all
    if not open_calls:
        return
    names = ", ".join(f"{c.name or '(no name)'} ({c.id or 'no id'})" for c in open_calls[:3])
    has = "has" if len(open_calls) == 1 else "have"
    late = {r.call_id for m in turn.prompt.messages for r in m.results}
    text = f"{count(len(open_calls), 'tool call')} {has} no result: {names}"
    if all(call.id in late for call in open_calls):
        text = f"{count(len(open_calls), 'tool call')} {has} a result only after another message"
    yield Found(
        text,
        places=tuple(at(turn, "request", c.pointer) for c in open_calls),
        evidence={"calls": [c.id for c in open_calls]},
    )


class _Wait(NamedTuple):
    """How far a history was walked: the calls given up, those that wait, the role of the last."""

    given_up: tuple[ToolCall, ...] = ()
    waiting: tuple[ToolCall, ...] = ()
    before: str = ""

    @property
    def all(self) -> tuple[ToolCall, ...]:
        return self.given_up + self.waiting


@cache
def _open_calls(ends_wait: frozenset[str]) -> Fold[_Wait]:
    """The calls of a history that have no result.

    Where results may follow beside text, one assistant message may be sent in pieces: a piece
    that follows at once does not end the wait.
    """
    in_pieces = "user" not in ends_wait

    def step(state: _Wait, message: Message) -> _Wait:
        given_up, waiting, before = state
        if waiting and message.results:
            answered = {result.call_id for result in message.results}
            waiting = tuple(call for call in waiting if call.id not in answered)
        piece = in_pieces and message.role == before == "assistant"
        if waiting and message.role in ends_wait and not message.results and not piece:
            given_up, waiting = given_up + waiting, ()
        if message.calls:
            again = {call.id: call for call in (*waiting, *message.calls)}
            waiting = tuple(again.values())
        return _Wait(given_up, waiting, message.role)

    return Fold(_Wait(), step)
