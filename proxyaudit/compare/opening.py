"""What a harness says before every conversation: worked examples, a description of the folder.

aider and Qwen Code put questions and answers of their own before the first question of the user.
Two conversations that have no more than that in common are two.
"""

from collections.abc import Sequence

from proxyaudit.compare.marks import flat
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn

# How many turns back a history must show something of.
_RECENT = 4


def begins_anew(turns: Sequence[Turn], new: Turn) -> bool:
    """Whether a history has nothing of what was asked and answered in a conversation, whose first
    request had an opening. `turns` are those of the conversation, in order."""
    known = {m.content for m in opening(turns[0].prompt.messages)}
    if not known:
        return False
    rest = [m for m in _history(new.prompt.messages) if m.content not in known]
    answers = flat(" ".join(m.text for m in rest if m.role == "assistant"))
    questions = flat(" ".join(m.text for m in rest if m.role == "user"))
    contents = {m.content for m in rest}
    for turn in (turns[0], *turns[-_RECENT:]):
        reply = turn.reply.message if turn.reply else None
        if reply and (reply.content in contents or _within(reply.text, answers)):
            return False
        # aider puts standing instructions behind the newest question only.
        if _within(_question(turn.prompt.messages).strip().partition("\n\n")[0], questions):
            return False
    return True


def opening(messages: Sequence[Message]) -> list[Message]:
    """What stands before the newest question of a first request. With tool calls in it, it is no
    opening: the recording began in mid-conversation."""
    before = _history(messages)
    return [] if any(m.calls for m in before) else before


def _history(messages: Sequence[Message]) -> list[Message]:
    """Up to the last assistant message, without system messages."""
    said = (n for n in range(len(messages), 0, -1) if messages[n - 1].role == "assistant")
    return [m for m in messages[: next(said, 0)] if m.role != "system"]


def _question(messages: Sequence[Message]) -> str:
    return next((m.text for m in reversed(messages) if m.role == "user"), "")


def _within(words: str, text: str) -> bool:
    words = flat(words)
    return bool(words) and words in text
