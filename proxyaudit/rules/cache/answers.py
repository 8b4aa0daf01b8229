"""What is compared of two turns to know an answer again."""

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


def asked(turn: Turn) -> str:
    """A digest of what was asked: messages alone."""
    return digest(*(m.content for m in turn.prompt.messages))


def text_of(turn: Turn) -> str:
    """The visible text of a reply."""
    return visible(turn.reply.message) if turn.reply and turn.reply.message else ""
