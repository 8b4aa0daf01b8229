"""Prompts that continue what a server keeps (`previous_response_id`).

The request carries new items only. What the model saw is the kept history before them, at the place
of the field that stands for it; instructions are not carried over, the format says.
"""

from collections.abc import Iterable
from dataclasses import replace

from proxyaudit.core.message import Message
from proxyaudit.core.turn import Prompt

_POINTER = "/previous_response_id"
_INSTRUCTIONS = "/instructions"


def kept(prompt: Prompt, before: tuple[Message, ...] = ()) -> tuple[Message, ...]:
    """What a server keeps of a prompt, at the place where a later request refers to it.

    `before` are messages of the prompt that were kept already; they are shared, not made anew.
    """
    body = [m for m in prompt.messages if not _is_instruction(m)]
    return (*before, *moved(body[len(before) :]))


def continued(prompt: Prompt, before: tuple[Message, ...]) -> Prompt:
    """A prompt with kept messages before its new ones; its own instructions stay first."""
    head = tuple(m for m in prompt.messages if _is_instruction(m))
    new = prompt.messages[len(head) :]
    return replace(prompt, messages=(*head, *before, *new), rebuilt=True)


def moved(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Messages and their parts at the field that stands for them; those without parts are gone."""
    return tuple(
        replace(m, parts=tuple(replace(p, pointer=_POINTER) for p in m.parts), pointer=_POINTER)
        for m in messages
        if m.parts
    )


def _is_instruction(message: Message) -> bool:
    return message.pointer.startswith(_INSTRUCTIONS)
