"""What is compared of two turns to know an answer again."""

import re

from proxyaudit.core.message import digest
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.rules.reading import visible


def counts(turn: Turn) -> Usage | None:
    """Token counts as reported, None where no prompt was counted."""
    usage = turn.reply.usage if turn.reply else None
    return usage if usage and usage.prompt else None


def id_of(turn: Turn) -> str:
    """The id of a reply, "" if it has none."""
    return (turn.reply.id if turn.reply else None) or ""


def said(turn: Turn) -> str:
    """A digest of what a reply says."""
    message = turn.reply.message if turn.reply else None
    return digest(message.content, message.reasoning) if message else ""


def same_messages(left: Turn, right: Turn) -> bool:
    a, b = left.prompt.messages, right.prompt.messages
    return len(a) == len(b) and all(x.content == y.content for x, y in zip(a, b, strict=True))


# Of whole responses: one of prompts, or of what was computed for them, gives no old answers.
_CACHE = re.compile(r"^(?!.*(prompt|prefix|token|kv)).*cache", re.IGNORECASE)
_SHAPING = ("temperature", "top_p", "seed", "max_tokens", "stop", "response_format", "tool_choice")


def asks_the_same(left: Turn, right: Turn) -> bool:
    """Whether two requests may be given one answer: their messages, model, tools and the settings
    that shape an answer are the same."""
    a, b = left.prompt, right.prompt
    if a.model != b.model or [t.name for t in a.tools] != [t.name for t in b.tools]:
        return False
    if any(a.settings.get(name) != b.settings.get(name) for name in _SHAPING):
        return False
    return same_messages(left, right)


def goes_on_from(earlier: Turn, turn: Turn) -> bool:
    """Whether a prompt holds all of an earlier one, and more."""
    old, new = earlier.prompt.messages, turn.prompt.messages
    begin = zip(old, new, strict=False)
    return len(new) > len(old) and all(a.content == b.content for a, b in begin)


def from_a_cache(turn: Turn) -> bool:
    """Whether a header of the response says that a cache of responses answered."""
    headers = turn.exchange.response.headers if turn.exchange.response else ()
    return any(
        _CACHE.search(name) and value.strip().lower().startswith(("hit", "true"))
        for name, value in headers
    )


def text_of(turn: Turn) -> str:
    """The visible text of a reply."""
    return visible(turn.reply.message) if turn.reply and turn.reply.message else ""
