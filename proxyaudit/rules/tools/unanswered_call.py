"""tool.unanswered_call"""

from collections.abc import Iterator, Sequence

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
    open_calls = list(_open_calls(turn.prompt.messages, _ENDS_WAIT.get(turn.dialect, frozenset())))
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


def _open_calls(messages: Sequence[Message], ends_wait: frozenset[str]) -> Iterator[ToolCall]:
    """Where results may follow beside text, one assistant message may be sent in pieces: a piece
    that follows at once does not end the wait."""
    in_pieces = "user" not in ends_wait
    waiting: dict[str, ToolCall] = {}
    before = ""
    for message in messages:
        for result in message.results:
            waiting.pop(result.call_id, None)
        piece = in_pieces and message.role == before == "assistant"
        if message.role in ends_wait and not message.results and not piece:
            yield from waiting.values()
            waiting.clear()
        waiting.update((call.id, call) for call in message.calls)
        before = message.role
    yield from waiting.values()
