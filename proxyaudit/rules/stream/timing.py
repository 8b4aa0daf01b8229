"""When the pieces of a stream came: bursts, spans, and what was held back."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from proxyaudit.core.finding import Skip
from proxyaudit.core.turn import Turn


def seen_times(turn: Turn) -> tuple[float, ...] | Skip:
    """Seconds at which text came, or why nothing can be said of them."""
    if turn.reply is None or turn.reply.stream is None:
        return Skip("the reply is no stream")
    if not turn.exchange.timed:
        return Skip("chunk times were not recorded")
    if turn.exchange.end != "complete" or not turn.ok:
        return Skip("the reply broke off")
    return turn.reply.stream.text_times


def span(times: Sequence[float]) -> float:
    """Seconds from the first piece to the last."""
    return max(times) - min(times) if times else 0.0


def bursts(times: Sequence[float], gap: float) -> int:
    """How many groups the pieces came in; within a group no pause is longer than `gap` seconds."""
    ordered = sorted(times)
    return 1 + sum(b - a > gap for a, b in pairwise(ordered))


def usual_gap(times: Sequence[float]) -> float:
    """The median pause between two pieces, in seconds."""
    ordered = sorted(times)
    return median(b - a for a, b in pairwise(ordered))
