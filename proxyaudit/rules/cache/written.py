"""Replies that tell what was written to a prompt cache, and whether it could have been read."""

from collections.abc import Iterator, Sequence

from proxyaudit.compare.align import common_prefix
from proxyaudit.core.message import digest
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.cache.control_dropped import marks

# Providers keep what was written for five minutes at least.
_KEPT = 300.0


def tells_written(turn: Turn) -> bool:
    """Whether the reply counts tokens written, and says how many were read."""
    usage = turn.reply.usage if turn.reply else None
    return usage is not None and usage.written is not None and usage.cached is not None


def prefix(turn: Turn) -> str:
    """What requests have in common at least: address, model, tools, first message."""
    prompt = turn.prompt
    head = [m.content for m in prompt.messages[:1]]
    tools = [f"{t.name} {t.definition}" for t in prompt.tools]
    return digest(turn.exchange.request.url, prompt.model or "", *head, *tools)


def unread_runs(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Stretches of replies that wrote and did not read, though the one before was within reach."""
    run: list[Turn] = []
    for turn in turns:
        if run and not (_reaches(run[-1], turn) and _wrote_alone(turn)):
            yield run
            run = []
        if _wrote_alone(turn):
            run.append(turn)
    if run:
        yield run


def are_equal(run: Sequence[Turn]) -> bool:
    """Whether the same was asked, twice at least."""
    asked = {digest(*_contents(turn)) for turn in run}
    return len(run) > 1 and len(asked) == 1


def _wrote_alone(turn: Turn) -> bool:
    usage = turn.reply.usage if turn.reply else None
    return usage is not None and bool(usage.written) and not usage.cached


def _reaches(before: Turn, turn: Turn) -> bool:
    """Whether what `before` wrote was there when `turn` was sent, still there, and of use."""
    response = before.exchange.response
    took = response.ended_at if response and response.ended_at is not None else 0.0
    gap = turn.exchange.started_at - before.exchange.started_at
    if not took <= gap <= took + _KEPT:
        return False
    old, new = _contents(before), _contents(turn)
    return common_prefix(old, new) == len(old) or _marked_early(before)


def _marked_early(turn: Turn) -> bool:
    """Whether a marker stands in what all of the requests begin with."""
    first = turn.prompt.messages[0].pointer if turn.prompt.messages else "/system"
    places = [pointer for pointer, _ in marks(body_json(turn.exchange.request))]
    return any(f"{place}/".startswith((f"{first}/", "/tools/", "/system/")) for place in places)


def _contents(turn: Turn) -> list[str]:
    return [message.content for message in turn.prompt.messages]
