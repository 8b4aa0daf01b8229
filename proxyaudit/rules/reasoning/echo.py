"""Reasoning that comes back, or does not."""

from proxyaudit.core.message import Message, Text
from proxyaudit.rules.reading import visible


def thinks(message: Message) -> bool:
    """Whether a message holds reasoning: text, or a signature that stands for it."""
    return any(thought.text.strip() or thought.signature for thought in message.thoughts)


def is_folded(left: Message, right: Message) -> bool:
    """Whether the reasoning of a message was put into its visible text."""
    thought = left.reasoning.strip()
    return bool(thought) and thought in visible(right) and thought not in visible(left)


def same_words(left: Message, right: Message) -> bool:
    """Whether two assistant messages think and say the same, however it is divided.

    After a change of model, harnesses put reasoning in front of the text or into a text part of its
    own, and take it out again when the first model comes back.
    """
    if left.role != "assistant" or right.role != "assistant":
        return False
    return _words(left) == _words(right) != ""


def _words(message: Message) -> str:
    said = (part.text for part in message.parts if isinstance(part, Text))
    return "".join("".join((message.reasoning, *said)).split())
