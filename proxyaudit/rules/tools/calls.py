"""Calls of two messages that stand for each other."""

from collections.abc import Iterator, Sequence

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import Message, ToolCall, canonical_arguments

type CallPair = tuple[int, int, ToolCall, ToolCall]


def call_pairs(found: Comparison) -> Iterator[CallPair]:
    """Left index, right index and the two calls, for all calls that have a counterpart."""
    for i, j in found.differing:
        left, right = found.left_messages[i], found.right_messages[j]
        if left is not right and left.calls and right.calls:
            yield from ((i, j, a, b) for a, b in matched(left, right))


def matched(left: Message, right: Message) -> list[tuple[ToolCall, ToolCall]]:
    """Pairs of calls: by id, then by name and arguments, then in order if as many are left."""
    pairs: list[tuple[ToolCall, ToolCall]] = []
    free, taken = list(left.calls), list(right.calls)
    for alike in (_same_id, _same_call):
        for a in tuple(free):
            b = next((b for b in taken if alike(a, b)), None)
            if b is not None:
                pairs.append((a, b))
                _remove(free, a)
                _remove(taken, b)
    if len(free) == len(taken):
        pairs += zip(free, taken, strict=True)
    return pairs


def same_arguments(a: ToolCall, b: ToolCall) -> bool:
    """Whether two calls have the same arguments as JSON values."""
    if a.arguments == b.arguments:
        return True
    return canonical_arguments(a.arguments) == canonical_arguments(b.arguments)


def held_in(left: Message, right: ToolCall) -> list[ToolCall]:
    """The left calls whose arguments stand, one after the other, in those of one right call."""
    rest = _dense(right.arguments)
    held = []
    for call in left.calls:
        piece = _dense(call.arguments)
        _, found, after = rest.partition(piece) if len(piece) > 2 else ("", "", rest)
        if found:
            held.append(call)
            rest = after
    return held


def names_joined(left: Message, right: ToolCall) -> list[ToolCall]:
    """The left calls, if their names make up that of one right call."""
    whole = "".join(call.name for call in left.calls)
    return list(left.calls) if len(left.calls) > 1 and whole == right.name else []


def _same_id(a: ToolCall, b: ToolCall) -> bool:
    return bool(a.id) and a.id == b.id


def _same_call(a: ToolCall, b: ToolCall) -> bool:
    return a.name == b.name and same_arguments(a, b)


def _remove(calls: list[ToolCall], call: ToolCall) -> None:
    del calls[next(n for n, other in enumerate(calls) if other is call)]


def _dense(text: str) -> str:
    return "".join(text.split())


def merged_calls(left: Message, right: Message) -> tuple[ToolCall, Sequence[ToolCall]] | None:
    """A right call into which several left calls were folded, and those; None if there is none."""
    if len(right.calls) >= len(left.calls):
        return None
    for call in right.calls:
        held = held_in(left, call)
        if len(held) < 2:
            held = names_joined(left, call)
        if len(held) > 1:
            return call, held
    return None
