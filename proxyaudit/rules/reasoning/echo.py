"""Reasoning that comes back, or does not."""

from proxyaudit.core.message import Message
from proxyaudit.rules.reading import visible


def thinks(message: Message) -> bool:
    """Whether a message holds reasoning: text, or a signature that stands for it."""
    return any(thought.text.strip() or thought.signature for thought in message.thoughts)


def is_folded(left: Message, right: Message) -> bool:
    """Whether the reasoning of a message was put into its visible text."""
    thought = left.reasoning.strip()
    return bool(thought) and thought in visible(right) and thought not in visible(left)
