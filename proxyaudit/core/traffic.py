"""All that one recording holds, as it was seen at one tap."""

from dataclasses import dataclass

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn


@dataclass(frozen=True, slots=True)
class Traffic:
    """Turns in order of their start, and the conversations that they belong to.

    `id` is the name of the recording. Seen from the upstream tap, a conversation holds those of
    its turns that got there, and keeps its id. A turn of a failed attempt is in `turns` only.
    """

    id: str
    turns: tuple[Turn, ...]
    conversations: tuple[Conversation, ...]
