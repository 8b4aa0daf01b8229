"""What it costs in time."""

import statistics
from collections.abc import Iterator, Sequence

from proxyaudit.core.selftest import Pacing
from proxyaudit.selftest.base import Outcome, Warn, check
from proxyaudit.selftest.interval import median_interval
from proxyaudit.selftest.script import (
    LAST,
    STREAM,
    Pair,
    Pause,
    Script,
    Seen,
    Step,
    Write,
    chunk,
    post,
)

# Far above what a busy machine adds, far below what a buffer does.
GROSS_CHUNK, GROSS_FIRST = 0.05, 0.25
ID = "stream.pacing"
_GAP, _CHUNKS, _PAIRS = 0.01, 12, 12


def _scripts() -> tuple[Script, ...]:
    steps: list[Step] = [STREAM]
    for number in range(_CHUNKS):
        steps += [Write(chunk(b"data: %d\n\n" % number)), Pause(_GAP)]
    return (Script((post((*steps, LAST)),)),)


@check(
    ID,
    proves="first byte and chunks are not later than direct by more than a buffer would tell",
    scripts=_scripts,
    repeat=_PAIRS,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Streams in pairs, direct and through the proxy in turns. The times are told with intervals;
    only a gross excess is a warning, for time on a busy machine proves nothing."""
    found = pacing(pairs)
    if found is None:
        yield Warn("no chunk times to compare")
        return
    for what, interval, gross in (
        ("the first byte", found.first_byte, GROSS_FIRST),
        ("a chunk", found.chunk, GROSS_CHUNK),
    ):
        if interval.low > gross:
            yield Warn(f"{what} comes {interval.median * 1000:.0f} ms later than direct (median)")


def pacing(pairs: Sequence[Pair]) -> Pacing | None:
    """Paired differences: one of first bytes, and one of median chunk delays, for each pair."""
    timed = [
        (direct, through)
        for pair in pairs
        for direct, through in zip(pair.direct, pair.through, strict=True)
        if direct.read_at and len(direct.read_at) == len(through.read_at)
    ]
    if not timed:
        return None
    return Pacing(
        first_byte=median_interval([_first(two) - _first(one) for one, two in timed]),
        chunk=median_interval([_delay(two) - _delay(one) for one, two in timed]),
        direct_first_byte=statistics.median(_first(one) for one, _ in timed),
        direct_chunk=statistics.median(_delay(one) for one, _ in timed),
    )


def _first(seen: Seen) -> float:
    return seen.head_at - seen.asked_at


def _delay(seen: Seen) -> float:
    delays = [read - wrote for wrote, read in zip(seen.written_at, seen.read_at, strict=True)]
    return statistics.median(delays)
