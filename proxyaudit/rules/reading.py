"""What many rules need to know of a turn: a reply that came whole, texts without code."""

import re
from collections.abc import Iterator

from proxyaudit.core.finding import Place, Skip
from proxyaudit.core.message import Message, Opaque, Text
from proxyaudit.core.turn import Prompt, Reply, Turn
from proxyaudit.rules.base import at

_FENCED = re.compile(r"^ {0,3}(```+|~~~+).*?(^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
# The opening is bounded: a long run of backticks would be tried at every length from every place.
_INLINE = re.compile(r"(`{1,20})[^`\n][^\n]*?\1")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "“": '"', "”": '"'})


def whole(turn: Turn) -> tuple[Reply, Message] | None:
    """The reply and its message, if the reply came whole and said something."""
    reply = turn.reply
    if not turn.ok or reply is None or reply.message is None:
        return None
    return reply, reply.message


def not_whole(turn: Turn) -> Skip:
    """Why `whole` gave nothing."""
    if turn.reply is None or turn.reply.message is None:
        return Skip("there is no reply to look at")
    return Skip("the reply failed or broke off")


def visible(message: Message, between: str = "\n") -> str:
    """The visible text of a message, without tool results; `between` stands between its parts."""
    return between.join(part.text for part in message.parts if isinstance(part, Text))


def text_place(turn: Turn, message: Message) -> Place:
    """The place of the visible text of a reply; of the message if it has none."""
    texts = [part.pointer for part in message.parts if isinstance(part, Text) and part.text]
    return at(turn, "response", (texts or [""])[0] or message.pointer)


def event_place(turn: Turn, event: int) -> Place:
    """The place of one event of a streamed reply."""
    return at(turn, "response", f"/stream/{event}")


def without_code(text: str) -> str:
    """Text with fenced blocks and inline code taken out."""
    return _INLINE.sub(" ", _FENCED.sub("\n", text))


def simple(text: str) -> str:
    """Lower case, straight quotes, single spaces: for matching English phrases."""
    return " ".join(text.translate(_APOSTROPHES).lower().split())


def asked(prompt: Prompt) -> Iterator[str]:
    """What was put to the model by others than itself: system and user text, tool results."""
    return (m.text for m in prompt.messages if m.role != "assistant")


def keeps_history_elsewhere(prompt: Prompt) -> bool:
    """Whether a part of the history cannot be seen: kept by the server, or sealed.

    What the server keeps is known again where the recording holds the reply it continues from.
    """
    if prompt.hides_history or "conversation" in prompt.settings:
        return True
    kinds = (p.kind for m in prompt.messages for p in m.parts if isinstance(p, Opaque))
    return any("reference" in kind or "compaction" in kind for kind in kinds)
