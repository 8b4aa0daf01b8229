"""How few tokens a text can possibly be.

Tokenizers split text at spaces before they merge letters: in the families of GPT, Llama, Qwen,
DeepSeek, Gemma and Mistral no token reaches over a space between two words. So a text of N words
is N tokens or more, whatever its language; English prose comes to about 1.3 a word. Scripts that
write without spaces merge at most a few letters into a token; four is more than any vocabulary in
use averages. Runs of spaces, lines and rulers may be one token each, and count nothing here.
"""

import re

from proxyaudit.core.history import Fold
from proxyaudit.core.message import Message, Text, ToolResult
from proxyaudit.core.turn import Turn, Usage

# Two passes, since one pattern for a word with a letter in it backtracks over every run of dots.
_PIECE = re.compile(r"\S+")
_LETTER = re.compile(r"[^\W_]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_LETTERS_A_TOKEN = 4

# By digest of the message: many conversations begin with the same long instructions.
_KNOWN: dict[str, int] = {}
_MOST = 50_000


def least_tokens(text: str) -> int:
    """Words, and letters of unspaced scripts by fours."""
    unspaced = len(_UNSPACED.findall(text))
    spaced = _UNSPACED.sub(" ", text) if unspaced else text
    words = sum(1 for piece in _PIECE.finditer(spaced) if _LETTER.search(piece[0]))
    return words + unspaced // _LETTERS_A_TOKEN


def spoken(message: Message) -> str:
    """What of a message every chat template prints: text and tool results."""
    return "\n".join(p.text for p in message.parts if isinstance(p, Text | ToolResult))


def least_in(message: Message) -> int:
    """The least tokens of one message."""
    least = _KNOWN.get(message.content)
    if least is None:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        least = _KNOWN[message.content] = least_tokens(spoken(message))
    return least


least_of = Fold(0, lambda total, message: total + least_in(message))
"""The least tokens of a whole history; what turns share is counted once."""


def counted(turn: Turn) -> int | None:
    """Prompt tokens as reported, cached ones among them; None if they were not."""
    usage = turn.reply.usage if turn.reply else None
    if usage is None or not usage.prompt:
        return None
    return usage.prompt + _left_out(usage)


def _left_out(usage: Usage) -> int:
    """A few servers count only what was not cached: the cached part is larger than the whole."""
    cached = usage.cached or 0
    return cached if cached > (usage.prompt or 0) else 0
