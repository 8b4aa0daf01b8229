"""Align two message sequences and name the differences.

Digests first: the common prefix and suffix are cut off, difflib aligns the digests between them.
Only what is left over is looked at more closely, gap by gap, in this order: moved (equal content,
another place), role changed, merged, the same call id, rewritten (alike, or alone in the gap),
duplicated. A structural diff over the raw lists would turn one deletion into hundreds of changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import NamedTuple

from proxyaudit.compare.joined import account, is_joined
from proxyaudit.compare.text import similarity
from proxyaudit.core.comparison import Change, ChangeKind
from proxyaudit.core.history import shared
from proxyaudit.core.message import UNNAMED, Message

# Two messages of one role, at least this alike, are the same message rewritten.
ALIKE = 0.5
# A gap of more messages is not searched as a whole: the cost grows with the product.
_LONG_GAP = 64


class Gap(NamedTuple):
    """What did not match between two anchors: index ranges into left and right."""

    left: range
    right: range


@dataclass(frozen=True, slots=True)
class Alignment:
    """What stands for each other, and what changed.

    The first `kept` messages are the very same objects on both sides; `aligned` are the pairs
    behind them, in order of the left index.
    """

    kept: int
    aligned: tuple[tuple[int, int], ...]
    changes: tuple[Change, ...]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs in order of the left index."""
        return (*((k, k) for k in range(self.kept)), *self.aligned)


@dataclass(slots=True)
class _Work:
    """The bookkeeping of one alignment, behind the kept messages: what is free on each side."""

    left: Sequence[Message]
    right: Sequence[Message]
    kept: int
    pairs: dict[int, int] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    explained: set[int] = field(default_factory=set)

    def free_left(self, span: range) -> list[int]:
        return [i for i in span if i not in self.pairs and i not in self.explained]

    def free_right(self, span: range) -> list[int]:
        return [j for j in span if j not in self.taken]

    def pair(self, i: int, j: int, kind: ChangeKind | None = None) -> None:
        self.pairs[i] = j
        self.taken.add(j)
        if kind:
            self.note(kind, range(i, i + 1), range(j, j + 1))

    def note(self, kind: ChangeKind, left: range, right: range) -> None:
        self.changes.append(Change(kind, left, right))


def align(left: Sequence[Message], right: Sequence[Message]) -> Alignment:
    """Align by content. Equal sequences give no change; a longer right gives only additions."""
    work = _Work(left, right, shared(left, right))
    gaps = list(_gaps(work))
    _moved(work, gaps)
    for gap in gaps:
        _role_changed(work, gap)
        _joined(work, gap)
        _merged(work, gap)
        _rewritten(work, gap)
    for gap in gaps:
        _leftovers(work, gap)
    order = sorted(work.changes, key=lambda c: (c.right.start, c.left.start))
    return Alignment(work.kept, tuple(sorted(work.pairs.items())), tuple(order))


def common_prefix(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items are equal from the start."""
    limit = min(len(left), len(right))
    if left[:limit] == right[:limit]:
        return limit
    return next(k for k in range(limit) if left[k] != right[k])


def _gaps(work: _Work) -> Iterator[Gap]:
    a = [m.content for m in work.left[work.kept :]]
    b = [m.content for m in work.right[work.kept :]]
    same = common_prefix(a, b)
    tail = common_prefix(a[same:][::-1], b[same:][::-1])
    head = work.kept + same
    for k in range(work.kept, head):
        work.pair(k, k)
    for k in range(1, tail + 1):
        work.pair(len(work.left) - k, len(work.right) - k)
    middle_a, middle_b = a[same : len(a) - tail], b[same : len(b) - tail]
    for tag, i1, i2, j1, j2 in SequenceMatcher(
        None, middle_a, middle_b, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            for step in range(i2 - i1):
                work.pair(head + i1 + step, head + j1 + step)
        else:
            yield Gap(range(head + i1, head + i2), range(head + j1, head + j2))


def _moved(work: _Work, gaps: Sequence[Gap]) -> None:
    places: dict[str, list[int]] = {}
    for gap in gaps:
        for j in gap.right:
            places.setdefault(work.right[j].content, []).append(j)
    for gap in gaps:
        for i in gap.left:
            found = places.get(work.left[i].content)
            if not found:
                continue
            j = found.pop(0)
            work.pair(i, j, None if _same_batch(work, i, j) else "moved")


def _same_batch(work: _Work, i: int, j: int) -> bool:
    """Results of parallel calls may come in any order: no assistant or user message between."""
    if work.left[i].role != "tool":
        return False
    return _batch(work.left, i) == _batch(work.right, j)


def _batch(messages: Sequence[Message], at: int) -> frozenset[str]:
    start = at
    while start > 0 and messages[start - 1].role == "tool":
        start -= 1
    end = at
    while end + 1 < len(messages) and messages[end + 1].role == "tool":
        end += 1
    return frozenset(r.call_id for m in messages[start : end + 1] for r in m.results)


def _role_changed(work: _Work, gap: Gap) -> None:
    for i in work.free_left(gap.left):
        if work.left[i].is_empty:
            continue
        for j in work.free_right(gap.right):
            if _same_words(work.left[i], work.right[j]):
                work.pair(i, j, "role_changed")
                break


def _same_words(left: Message, right: Message) -> bool:
    """The same meaning under another role. A tool result that became text has lost its call."""
    if left.role == right.role:
        return False
    if left.body == right.body:
        return True
    became = "tool" in (left.role, right.role) and not (left.calls or right.calls)
    return became and bool(left.text.strip()) and left.text == right.text


def _joined(work: _Work, gap: Gap) -> None:
    """Replies that the reader put into one message, since nothing stands between them any more."""
    for j in work.free_right(gap.right):
        free = work.free_left(gap.left)
        if not free or not is_joined(work.right[j]):
            continue
        made = account([work.left[i] for i in free], work.right[j])
        own = [free[k] for k in made.held if work.left[free[k]].role == "assistant"] if made else []
        if made is None or not own:
            continue
        held = [free[k] for k in made.held]
        work.pair(own[0], j)
        work.explained.update(i for i in held if i != own[0])
        here = range(j, j + 1)
        if len(held) > 1:
            work.note("merged", range(held[0], held[-1] + 1), here)
        for i in held:
            if i not in own:
                work.note("role_changed", range(i, i + 1), here)
        for k in made.repeated:
            work.note("duplicated", range(free[k], free[k] + 1), here)


def _merged(work: _Work, gap: Gap) -> None:
    for j in work.free_right(gap.right):
        text = work.right[j].text
        held: list[int] = []
        rest = text
        for i in work.free_left(gap.left):
            piece = work.left[i].text.strip()
            before, found, after = rest.partition(piece) if piece else ("", "", rest)
            if found and work.left[i].role != "tool" and not before.strip():
                held.append(i)
                rest = after
        alike = any(work.left[i].role == work.right[j].role for i in held)
        if len(held) > 1 and alike and len(rest.strip()) <= len(text) // 10:
            work.pair(held[0], j)
            work.explained.update(held[1:])
            work.note("merged", range(held[0], held[-1] + 1), range(j, j + 1))


def _rewritten(work: _Work, gap: Gap) -> None:
    # In a long gap every message against every other would take minutes.
    if max(len(gap.left), len(gap.right)) > _LONG_GAP and _in_step(work, gap):
        return
    last = gap.right.start - 1
    owners = {(work.left[i].role, id_): i for i in gap.left for id_ in _sent_ids(work.left[i])}
    for i in work.free_left(gap.left):
        near = [
            j
            for j in work.free_right(gap.right)
            if j > last and not _is_anothers(owners, i, work.right[j])
        ]
        j = _best(work, i, near[:_LONG_GAP])
        if j is not None:
            work.pair(i, j, "rewritten")
            last = j
    if not _in_step(work, gap):
        _alone(work, gap)


def _is_anothers(owners: Mapping[tuple[str, str], int], i: int, right: Message) -> bool:
    """Whether the ids of a right message are those of other left messages than `i`."""
    of = {owners.get((right.role, id_)) for id_ in _sent_ids(right)} - {None}
    return bool(of) and i not in of


def _in_step(work: _Work, gap: Gap) -> bool:
    """As many messages left as right, with the same roles in order: each was rewritten."""
    left, right = work.free_left(gap.left), work.free_right(gap.right)
    roles = [work.left[i].role for i in left], [work.right[j].role for j in right]
    if len(left) < 2 or roles[0] != roles[1] or len(left) != len(gap.left):
        return False
    for i, j in zip(left, right, strict=True):
        work.pair(i, j, "rewritten")
    return True


def _best(work: _Work, i: int, candidates: Sequence[int]) -> int | None:
    """The right message that stands for left message `i`: same calls, or the most alike."""
    message = work.left[i]
    alike = [j for j in candidates if work.right[j].role == message.role]
    if not alike:
        return None
    best = max(alike, key=lambda j: (_likeness(message, work.right[j]), -j))
    return best if _likeness(message, work.right[best]) >= ALIKE else None


def _likeness(left: Message, right: Message) -> float:
    ids, others = _sent_ids(left), _sent_ids(right)
    if ids & others:
        return 1.0
    called, calls = [c.name for c in left.calls], [c.name for c in right.calls]
    if called and calls:
        arguments = similarity(_arguments(left), _arguments(right))
        return max(arguments, 0.9 if called == calls else 0.0)
    if bool(called) != bool(calls) and not (left.text and right.text):
        return 0.0
    short, long = sorted((left.text.strip(), right.text.strip()), key=len)
    # Something put before or behind a short text is an edit of it, however long the addition.
    extended = bool(short) and (long.startswith(short) or long.endswith(short))
    return max(similarity(left.text, right.text), 0.6 if extended else 0.0)


def _sent_ids(message: Message) -> set[str]:
    """The ids of calls and results; those made up where a format has none may come again."""
    return {id_ for id_ in message.ids if not id_.startswith(UNNAMED)}


def _arguments(message: Message) -> str:
    return "\n".join(f"{c.name} {c.arguments}" for c in message.calls)


def _alone(work: _Work, gap: Gap) -> None:
    """A message alone in its gap, and one of its role first in the gap on the right: the same
    place in the history, whatever was added behind it."""
    i, j = work.free_left(gap.left), work.free_right(gap.right)
    if len(gap.left) != 1 or not i or not j or j[0] != gap.right.start:
        return
    if work.left[i[0]].role == work.right[j[0]].role:
        work.pair(i[0], j[0], "rewritten")


def _leftovers(work: _Work, gap: Gap) -> None:
    for i in work.free_left(gap.left):
        work.note("dropped", range(i, i + 1), range(gap.right.start, gap.right.start))
    for j in work.free_right(gap.right):
        twin = _twin(work, j)
        here = range(j, j + 1)
        if twin is not None:
            work.note("duplicated", range(twin, twin + 1), here)
        else:
            work.note("added", range(gap.left.start, gap.left.start), here)


def _twin(work: _Work, j: int) -> int | None:
    """The left message that right message `j` repeats: equal, or a prefix of its neighbour."""
    message = work.right[j]
    if message.is_empty:
        return None
    for i, other in sorted(work.pairs.items(), key=lambda pair: abs(pair[1] - j)):
        if _repeats(work, j, other):
            return i
    if j == work.kept and j and _starts(work.right[j - 1], message):
        return j - 1
    content, right = message.content, work.right
    return next((k for k in reversed(range(work.kept)) if right[k].content == content), None)


def _repeats(work: _Work, j: int, other: int) -> bool:
    message, twin = work.right[j], work.right[other]
    return twin.content == message.content or (abs(other - j) == 1 and _starts(twin, message))


def _starts(whole: Message, part: Message) -> bool:
    same = whole.role == part.role and not part.calls and not part.results
    return same and bool(part.text.strip()) and whole.text.startswith(part.text)
