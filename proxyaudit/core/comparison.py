"""Two message sequences, what is expected between them, and where they differ."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Literal

from proxyaudit.core.finding import Place, Suspect
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn


class Relation(StrEnum):
    """What is expected between left and right (design: section 3)."""

    NEXT_TURN = "next_turn"
    FORWARDED = "forwarded"
    RETURNED = "returned"
    REPLAYED = "replayed"
    SAME_TURN = "same_turn"


type ChangeKind = Literal[
    "dropped", "added", "rewritten", "moved", "duplicated", "merged", "role_changed"
]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `left` and `right` are index ranges into the two sequences.

    dropped: left without right. added: right without left. rewritten, role_changed: one to one.
    moved: one to one, equal content, another order. merged: several left, one right.
    duplicated: `right` repeats the message (or a prefix of it) at `left`.
    """

    kind: ChangeKind
    left: range
    right: range


@dataclass(frozen=True)
class Comparison:
    """A relation between two turns, with aligned messages.

    NEXT_TURN: `left_messages` is the history of turn N and, where `echo` is set, the reply of
    turn N as its last message; `right_messages` is the history of turn N+1. What turn N+1 adds at
    the end is not a change. FORWARDED: the two prompts. RETURNED: the two replies, a message each.
    `kept` messages at the start are the very same on both sides; `aligned` are the indices of the
    others that stand for each other (equal, rewritten or moved), in order of the left index.
    `reset`: nothing of the earlier turns is left. `compacted`: a marked summary stands for them, at
    right index `summary`. `forked`: the user went back to an earlier point. `pending` is the left
    index of a user message that was never answered and is gone.
    """

    relation: Relation
    left: Turn
    right: Turn
    left_messages: tuple[Message, ...]
    right_messages: tuple[Message, ...]
    changes: tuple[Change, ...]
    kept: int
    aligned: tuple[tuple[int, int], ...]
    suspect: Suspect
    echo: bool = False
    reset: bool = False
    compacted: bool = False
    forked: bool = False
    summary: int | None = None
    pending: int | None = None

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The indices of all messages that stand for each other, made anew at each call."""
        return (*((k, k) for k in range(self.kept)), *self.aligned)

    @cached_property
    def differing(self) -> tuple[tuple[int, int], ...]:
        """The pairs in which anything can differ at all: those of two objects. A rule that looks
        at these costs what is new in a turn, not the whole history."""
        left, right = self.left_messages, self.right_messages
        return tuple((i, j) for i, j in self.aligned if left[i] is not right[j])

    def is_echo(self, index: int) -> bool:
        """Whether the left message at `index` is the reply of turn N, not part of its prompt."""
        return self.echo and index == len(self.left_messages) - 1

    def left_place(self, index: int, pointer: str | None = None) -> Place:
        """The place of a left message, or of a part of it if its pointer is given."""
        on_reply = self.relation is Relation.RETURNED or self.is_echo(index)
        side = self.left.response_side if on_reply else self.left.request_side
        return Place(self.left.id, side, pointer or self.left_messages[index].pointer)

    def right_place(self, index: int | None = None, pointer: str | None = None) -> Place:
        """The place of a right message; without an index, the list it should be in."""
        on_reply = self.relation is Relation.RETURNED
        side = self.right.response_side if on_reply else self.right.request_side
        if index is None:
            whole = "" if on_reply else self.right.prompt.messages_pointer
            return Place(self.right.id, side, pointer if pointer is not None else whole)
        return Place(self.right.id, side, pointer or self.right_messages[index].pointer)
