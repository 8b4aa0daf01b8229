"""context.state_ignored"""

from collections.abc import Iterator

from proxyaudit.core.finding import Skip
from proxyaudit.core.json import JSON
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.context.response_object import response_object
from proxyaudit.rules.context.tokens import counted, least_in
from proxyaudit.rules.reading import whole

# A share of the words of a reply that no tokenizer comes below.
_SURE = 0.6
_FIELDS = ("previous_response_id", "conversation")


@rule("context.state_ignored", severity="error", on=Traffic)
def state_ignored(traffic: Traffic, facts: Facts) -> Iterator[Outcome]:
    """A server-side conversation reference had no effect.

    What it does
        Looks at requests that refer to a history kept by the server (`previous_response_id`,
        `conversation`) and were answered. Reports it if the reply says null where it should repeat
        the reference, or if fewer prompt tokens were counted than the turn referred to had, whose
        prompt and reply are part of this one. Reasoning may lawfully be left out, and so may the
        counts of a turn with other tools or instructions.

    Why it matters
        The client sends nothing but the new message. If the server does not put the history in
        front of it, the model begins anew at every turn, and nobody is told.

    Example
        Bad: {"previous_response_id": "q1"} is answered {"previous_response_id": null, "usage":
        {"input_tokens": 40}}, and 52 were counted for q1
        Good: {"previous_response_id": "q1", "usage": {"input_tokens": 68}}; or an error 404

    What to look at next
        Whether the server keeps replies at all (`store`), and whether the proxy sends all requests
        of a conversation to the same backend.
    """
    known = {t.reply.id: t for t in traffic.turns if t.reply and t.reply.id}
    referring = [t for t in traffic.turns if any(_reference(t, field) for field in _FIELDS)]
    if not referring:
        yield Skip("no request refers to a history kept by the server")
    newest: dict[str, Turn] = {}
    for turn in referring:
        if whole(turn) is None:
            continue
        kept_under = str(turn.prompt.settings.get("conversation"))
        denied = next((f for f in _FIELDS if _reference(turn, f) and _is_denied(turn, f)), None)
        before = known.get(turn.prompt.previous_id or "") or newest.get(kept_under)
        if _reference(turn, "conversation"):
            newest[kept_under] = turn
        fewer = before is not None and _counted_too_few(before, turn)
        if denied or fewer:
            yield _found(turn, denied, before if fewer else None)


def _reference(turn: Turn, field: str) -> bool:
    if field == "conversation":
        return bool(turn.prompt.settings.get(field)) and turn.dialect == "openai-responses"
    return turn.prompt.previous_id is not None


def _referred(turn: Turn) -> str:
    return next(field for field in _FIELDS if _reference(turn, field))


def _is_denied(turn: Turn, field: str) -> bool:
    """Whether the reply says in so many words that there is no such reference."""
    said = response_object(turn)
    return isinstance(said, dict) and field in said and said[field] is None


def _counted_too_few(before: Turn, turn: Turn) -> bool:
    had, has = counted(before), counted(turn)
    if had is None or has is None or turn.prompt.settings.get("truncation") == "auto":
        return False
    if before.prompt.tools != turn.prompt.tools or _instructions(before) != _instructions(turn):
        return False
    # The very same count is more likely made up: servers for tests give one number for all.
    few = has != had and has < _least(before, had)
    return few and before.prompt.model == turn.prompt.model


def _least(before: Turn, had: int) -> float:
    """What a prompt has to count that holds another one and its reply; less if there is reasoning,
    which is no part of it."""
    reply = before.reply.message if before.reply else None
    usage = before.reply.usage if before.reply else None
    thinks = (usage and usage.reasoning) or any(m.thoughts for m in before.prompt.messages)
    if reply is None or thinks or reply.thoughts:
        return had
    return had + 1 + _SURE * least_in(reply)


def _instructions(turn: Turn) -> list[str]:
    return [m.content for m in turn.prompt.messages if m.pointer.startswith("/instructions")]


def _found(turn: Turn, denied: str | None, before: Turn | None) -> Found:
    numbers: dict[str, JSON] = {"prompt_tokens": counted(turn)}
    text = f"the reply says {denied}: null" if denied else ""
    if before is not None:
        numbers["prompt_tokens_before"] = counted(before)
        counts = f"{counted(turn):,} prompt tokens were counted, {counted(before):,} before"
        text = f"{text}; {counts}" if text else counts
    usage = turn.reply.usage if turn.reply else None
    told = f"/{denied}" if denied else usage.pointer if usage else ""
    stream = turn.reply is not None and turn.reply.stream is not None
    return Found(
        f"the history that the request refers to was not used: {text}",
        places=(at(turn, "response", "/stream" if stream and denied else told),),
        before=(at(turn, "request", f"/{denied or _referred(turn)}"),),
        evidence=numbers,
    )
