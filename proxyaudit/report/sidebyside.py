"""Two message sequences row by row: what stands for what, what is gone, what is new."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import Message
from proxyaudit.report.message_text import script

type RowKind = Literal[
    "equal",
    "reasoning",
    "rewritten",
    "moved",
    "role_changed",
    "merged",
    "dropped",
    "added",
    "duplicated",
    "grown",
]


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Indices into the two sequences; None where a side has nothing.

    equal: same meaning, same reasoning. reasoning: only that differs, which may be lawful. grown:
    what the next turn adds at its end, as it should. The others are the kinds of changes.
    """

    kind: RowKind
    left: int | None
    right: int | None


def rows(found: Comparison) -> list[Row]:
    """Rows in the order of the right side; what is gone stands where it was."""
    return list(_rows(found))


def _rows(found: Comparison) -> Iterator[Row]:
    partner = {j: i for i, j in found.pairs}
    paired = set(partner.values())
    kinds = _Kinds(found)
    at = 0
    for j in range(len(found.right_messages)):
        i = partner.get(j)
        if i is None:
            yield Row(kinds.right.get(j, "grown"), None, j)
            continue
        for gone in range(at, i):
            if gone not in paired:
                yield Row(kinds.left.get(gone, "dropped"), gone, None)
        at = max(at, i + 1)
        yield Row(kinds.pair.get((i, j)) or _alike(found, i, j), i, j)
    for gone in range(at, len(found.left_messages)):
        if gone not in paired:
            yield Row(kinds.left.get(gone, "dropped"), gone, None)


class _Kinds:
    """The kind of change at each index."""

    def __init__(self, found: Comparison) -> None:
        self.left: dict[int, RowKind] = {}
        self.right: dict[int, RowKind] = {}
        self.pair: dict[tuple[int, int], RowKind] = {}
        for change in found.changes:
            match change.kind:
                case "dropped":
                    self.left |= dict.fromkeys(change.left, change.kind)
                case "added" | "duplicated":
                    self.right |= dict.fromkeys(change.right, change.kind)
                case "merged":
                    self.left |= dict.fromkeys(change.left, change.kind)
                    self.pair[change.left.start, change.right.start] = change.kind
                case _:
                    self.pair[change.left.start, change.right.start] = change.kind


def _alike(found: Comparison, i: int, j: int) -> RowKind:
    left, right = found.left_messages[i], found.right_messages[j]
    return "equal" if _same(left, right) else "reasoning"


def _same(left: Message, right: Message) -> bool:
    return left is right or script(left) == script(right)
