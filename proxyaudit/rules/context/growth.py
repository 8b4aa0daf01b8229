"""Turns whose prompt was counted as if the history had not grown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxyaudit.core.history import Fold, shared
from proxyaudit.core.message import Media, Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.context.tokens import counted, least_in

# So many words must have been added, and so small a share of them counted.
_GROWTH, _SHARE = 100, 0.4
# A count that falls by so much of itself while the history only grew is evidence at any size.
_SHRUNK = 0.2
# A letter of reasoning is a third of a token, generously.
_REASONING_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Stall:
    """A turn that was counted as too little after `before`: counts, and the words added."""

    before: Turn
    turn: Turn
    counted_before: int
    counted: int
    grown: int


def stalls(turns: Sequence[Turn]) -> Iterator[list[Stall]]:
    """Runs of turns that stall one after the other."""
    run: list[Stall] = []
    last: Turn | None = None
    for turn in turns:
        if counted(turn) is None:
            continue
        stall = _stall(last, turn) if last else None
        if stall:
            run.append(stall)
        elif run:
            yield run
            run = []
        last = turn
    if run:
        yield run


def _stall(before: Turn, turn: Turn) -> Stall | None:
    had, has = counted(before), counted(turn)
    if had is None or has is None or not _comparable(before, turn):
        return None
    # Less than before, though the server keeps the history: context.state_ignored tells that.
    if turn.prompt.previous_id is not None and has < had:
        return None
    # Templates lawfully drop old reasoning once the user speaks again: so much may be gone.
    counted_more = has - had + _reasoning(before.prompt.messages) // _REASONING_TOKEN
    old, new = _parted(before, turn)
    known = {m.content for m in old}
    grown = sum(least_in(m) for m in new if m.content not in known)
    shrank = counted_more < -_SHRUNK * had
    if not shrank and (grown < _GROWTH or counted_more >= _SHARE * grown):
        return None
    return Stall(before, turn, had, has, grown)


def _comparable(before: Turn, turn: Turn) -> bool:
    """The same model with the same tools or more, and a history that only grew."""
    left, right = before.prompt, turn.prompt
    model = (left.model, before.reply.model if before.reply else None)
    if model != (right.model, turn.reply.model if turn.reply else None):
        return False
    if left.hides_history or right.hides_history or not set(left.tools) <= set(right.tools):
        return False
    # What a picture costs, and whether an old one is still shown, is the server's affair.
    if _media(left.messages):
        return False
    old, new = _parted(before, turn)
    kept = {m.content for m in new}
    return all(m.content in kept for m in old)


def _parted(before: Turn, turn: Turn) -> tuple[Sequence[Message], Sequence[Message]]:
    """What the two histories have behind the messages that they share."""
    left, right = before.prompt.messages, turn.prompt.messages
    same = shared(left, right)
    return left[same:], right[same:]


def _thought(letters: int, message: Message) -> int:
    return letters + sum(len(t.text) + len(t.signature or "") for t in message.thoughts)


_reasoning = Fold(0, _thought)
"""Letters of reasoning in a history."""

_media = Fold(False, lambda held, m: held or any(isinstance(p, Media) for p in m.parts))
"""Whether a history holds a picture, a sound or a file."""
