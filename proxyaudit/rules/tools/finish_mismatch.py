"""tool.finish_mismatch"""

from collections.abc import Iterator

from proxyaudit.core.finding import Severity, Skip
from proxyaudit.core.message import Message, Opaque
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, whole

# Responses has a status and no finish reason: calls and a finished reply go together there.
_NO_FINISH = frozenset({"openai-responses"})


@rule("tool.finish_mismatch", severity="warn", on=Turn)
def finish_mismatch(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """finish_reason disagrees with the presence of tool calls.

    What it does
        Compares the finish reason of a reply with its calls: calls want `tool_calls` (`tool_use`),
        and `tool_calls` wants calls. A request that names the tool to call is answered with `stop`
        by the API's own rules; one that merely demands some call is reported at info.

    Why it matters
        Harnesses decide by this word whether to run tools. With `stop` the call is thrown away and
        the agent ends in the middle of its work; with `tool_calls` and no call it waits or loops.

    Example
        Bad: {"message": {"tool_calls": [{"id": "k-1", …}]}, "finish_reason": "stop"}
        Good: {"message": {"tool_calls": [{"id": "k-1", …}]}, "finish_reason": "tool_calls"}

    What to look at next
        The server's streaming code: the plain reply to the same request often has it right.
    """
    if turn.dialect in _NO_FINISH:
        yield Skip("this dialect has no finish reason")
        return
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    word, calls = reply.finish_raw or reply.finish, len(message.calls)
    if calls and reply.finish == "stop":
        problem, severity = f"the reply holds {calls} calls, yet it ends with {word!r}", None
        choice = turn.prompt.settings.get("tool_choice")
        if isinstance(choice, dict):
            return
        severity = _softened(choice)
    elif not calls and reply.finish == "tool_calls" and not _calls_inside(message):
        problem, severity = f"the reply ends with {word!r}, yet it holds no call", None
    else:
        return
    place = at(turn, "response", reply.finish_pointer)
    evidence = {"finish_reason": word, "calls": calls}
    yield Found(problem, places=(place,), severity=severity, evidence=evidence)


def _softened(choice: object) -> Severity | None:
    return "info" if choice == "required" else None


def _calls_inside(message: Message) -> bool:
    """Calls of a kind that no dialect reads, such as those that the server runs itself."""
    kinds = [p.kind for p in message.parts if isinstance(p, Opaque)]
    return any("call" in kind or "tool" in kind for kind in kinds)
