"""Two recordings of the same work: which conversation and which turn stands for which."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from proxyaudit.compare.align import align
from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message, Part, ToolCall, ToolResult, digest
from proxyaudit.core.turn import Turn

type Side = tuple[int, Turn]
"""A turn and its number in its conversation, from 1."""


@dataclass(frozen=True, slots=True)
class TurnPair:
    """A turn of each recording; one may be missing. What was asked and answered, compared.

    Ids of tool calls are made up anew in each run: both sides have them as "call 1", "call 2", …
    """

    left: Side | None
    right: Side | None
    prompt: Comparison | None = None
    reply: Comparison | None = None

    @property
    def differs(self) -> bool:
        """Whether anything but the ids of calls and the reasoning is different."""
        return self.prompt is None or bool(self.prompt.changes) or _changed(self.reply)


@dataclass(frozen=True, slots=True)
class ConversationPair:
    """A conversation of each recording; one may be missing."""

    left: Conversation | None
    right: Conversation | None
    turns: tuple[TurnPair, ...] = ()


def compare_recordings(
    left: Sequence[Conversation], right: Sequence[Conversation]
) -> list[ConversationPair]:
    """Match conversations by what was asked in them, and their turns one by one.

    In the order of the left side; what only the right side holds comes last.
    """
    partner = _partners(left, right)
    taken = {id(other) for other in partner.values()}
    pairs = [_pair(each, partner.get(n)) for n, each in enumerate(left)]
    return pairs + [ConversationPair(None, each) for each in right if id(each) not in taken]


def _partners(
    left: Sequence[Conversation], right: Sequence[Conversation]
) -> dict[int, Conversation]:
    """By index on the left, the most alike first. The only main ones left over are a pair, too."""
    asked = [Counter(_asked(turn) for turn in each.turns) for each in left]
    also = [Counter(_asked(turn) for turn in each.turns) for each in right]
    scored = [
        ((mine & theirs).total() / (mine | theirs).total(), -i, -j)
        for i, mine in enumerate(asked)
        for j, theirs in enumerate(also)
        if mine & theirs
    ]
    found: dict[int, int] = {}
    for _, i, j in sorted(scored, reverse=True):
        if -i not in found and -j not in found.values():
            found[-i] = -j
    alone = [i for i, c in enumerate(left) if c.kind == "main" and i not in found]
    other = [j for j, c in enumerate(right) if c.kind == "main" and j not in found.values()]
    if len(alone) == len(other) == 1:
        found[alone[0]] = other[0]
    return {i: right[j] for i, j in found.items()}


def _pair(left: Conversation, right: Conversation | None) -> ConversationPair:
    if right is None:
        return ConversationPair(left, None)
    return ConversationPair(left, right, tuple(_turns(left.turns, right.turns)))


def _turns(left: Sequence[Turn], right: Sequence[Turn]) -> list[TurnPair]:
    """Turns that ask the same are pairs; those between them are taken in order."""
    matcher = SequenceMatcher(None, [*map(_asked, left)], [*map(_asked, right)], autojunk=False)
    pairs: list[TurnPair] = []
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        mine = [(n + 1, left[n]) for n in range(i1, i2)]
        theirs = [(n + 1, right[n]) for n in range(j1, j2)]
        pairs += [_compared(a, b) for a, b in zip_longest(mine, theirs)]
    return pairs


def _compared(left: Side | None, right: Side | None) -> TurnPair:
    if left is None or right is None:
        return TurnPair(left, right)
    mine, theirs = (_conversed(turn) for _, turn in (left, right))
    a, b = len(left[1].prompt.messages), len(right[1].prompt.messages)
    return TurnPair(
        left,
        right,
        _comparison(left[1], right[1], mine[:a], theirs[:b]),
        _comparison(left[1], right[1], mine[a:], theirs[b:]),
    )


def _comparison(
    left: Turn, right: Turn, mine: tuple[Message, ...], theirs: tuple[Message, ...]
) -> Comparison:
    found = align(mine, theirs)
    return Comparison(
        Relation.SAME_TURN,
        left,
        right,
        mine,
        theirs,
        found.changes,
        found.kept,
        found.aligned,
        "unknown",
    )


def _changed(reply: Comparison | None) -> bool:
    return reply is not None and bool(reply.changes)


def _asked(turn: Turn) -> str:
    """What a turn adds to the history: its messages after the last one of the assistant."""
    messages = turn.prompt.messages
    last = max((n for n, m in enumerate(messages) if m.role == "assistant"), default=-1)
    return digest(*(m.content for m in _renamed(messages)[last + 1 :] if m.role != "system"))


def _conversed(turn: Turn) -> tuple[Message, ...]:
    """The prompt and, where there is one, the reply."""
    said = turn.reply.message if turn.reply else None
    return _renamed((*turn.prompt.messages, said) if said else turn.prompt.messages)


def _renamed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages with the ids of calls in order of appearance."""
    names: dict[str, str] = {}

    def name(id_: str) -> str:
        return names.setdefault(id_, f"call {len(names) + 1}")

    def part(one: Part) -> Part:
        match one:
            case ToolCall():
                return replace(one, id=name(one.id))
            case ToolResult():
                return replace(one, call_id=name(one.call_id))
            case _:
                return one

    return tuple(
        replace(m, parts=tuple(map(part, m.parts))) if m.calls or m.results else m for m in messages
    )
