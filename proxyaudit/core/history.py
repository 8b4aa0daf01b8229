"""Histories that grow: each turn sends what the last one sent, and a little more.

Messages that two turns share are the same objects (the dialects see to that), so that what is new
is found without a look at the texts. Whoever looks at each turn of a session should look at what
is new there, or the cost of a session grows with the square of its length.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import is_

from proxyaudit.core.message import Message

_REMEMBERED = 16
"""Histories a fold goes on from; so many conversations may take turns."""


def shared(left: Sequence[object], right: Sequence[object]) -> int:
    """How many elements, from the start, are the very same objects."""
    both = range(min(len(left), len(right)))
    # Histories that share one message share, as a rule, all before it: that is tried first.
    same = bisect_left(both, True, key=lambda n: left[n] is not right[n])
    if all(map(is_, left[:same], right)):
        return same
    return next(n for n in both if left[n] is not right[n])


class Fold[S]:
    """A value worked out message by message: a count, a set, what is still open.

    Called with a history it goes on from the longest earlier one that stands at its start. `step`
    must not change the state that it is given. Safe to share between threads.
    """

    def __init__(self, start: S, step: Callable[[S, Message], S]) -> None:
        self._start = start
        self._step = step
        self._known: deque[_Walked[S]] = deque(maxlen=_REMEMBERED)

    def __call__(self, messages: tuple[Message, ...]) -> S:
        """The state after the last of the messages."""
        longest_first = sorted(self._known, key=lambda known: -len(known.messages))
        base = next((k for k in longest_first if _begins_with(messages, k.messages)), None)
        state = base.state if base else self._start
        new = messages[len(base.messages) :] if base else messages
        for message in new:
            state = self._step(state, message)
        if new:
            if base:
                with suppress(ValueError):  # another thread was faster
                    self._known.remove(base)
            self._known.appendleft(_Walked(messages, state))
        return state


@dataclass(frozen=True, slots=True, eq=False)
class _Walked[S]:
    """A history, and the state after its last message."""

    messages: tuple[Message, ...]
    state: S


def _begins_with(messages: Sequence[Message], start: Sequence[Message]) -> bool:
    # The last is looked at first: histories of one agent begin alike, and part later.
    return (
        len(start) <= len(messages)
        and start[-1] is messages[len(start) - 1]
        and all(map(is_, start, messages))
    )
