"""stream.buffered"""

from collections.abc import Iterator
from itertools import pairwise

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.stream.timing import bursts, seen_times, span, usual_gap
from proxyaudit.rules.wording import actor

# One tap: at least so many pieces, the first of them late, all at a pace that no decoder has (the
# fastest serve about 2,000 tokens a second, and not after seconds of silence for a short text).
_PIECES, _SILENCE, _SHARE, _PACE = 20, 2.0, 0.05, 400.0
# Or in lumps: so many pieces on the average, in bursts so far apart, with as little time in them.
_LUMP, _WITHIN, _APART = 10, 0.02, 0.5
# Two taps: the upstream stream took so long, and the client got so small a share of its bursts, or
# of the time, that it did not see the text grow. In a stream shorter than that, only a hold of all
# but everything counts: a hiccup of the machine may be as long as half of it.
_FEW, _SPAN, _BURSTS, _HELD = 8, 0.4, 0.4, 0.5
_SHORT, _NEARLY_ALL = 0.15, 0.8
# A stream in fewer pieces than that is not looked at; and of what was taken out on the way (the
# reasoning, a part of the text) the time is gone with it.
_FEWEST, _KEPT = 4, 0.9


@rule("stream.buffered", severity="warn", on=Turn)
def at_one_tap(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """A stream was held back and delivered in one or few bursts.

    What it does
        At one tap: twenty pieces or more that come after two seconds of silence within a twentieth
        of the whole time, faster than 400 a second, or in lumps of ten and more, half a second and
        more apart. Between two taps: the upstream stream took
        0.4 seconds or more, and the client waited for half of that before its first piece, or got
        the pieces in less than two fifths of the bursts; in a shorter stream, it got everything at
        once. Needs chunk times.

    Why it matters
        The user stares at an empty screen, an agent cannot stop early, and a hop that holds back
        long enough runs into a timeout.

    Example
        Bad: 36 pieces upstream between 0.4 s and 10.9 s, at the client all between 10.95 and 10.99.
        Good: each piece at the client a few milliseconds after it came from upstream.

    What to look at next
        nginx `proxy_buffering`, compression of event streams, "response hooks" of gateways.
    """
    times = seen_times(turn)
    if isinstance(times, Skip):
        yield times
        return
    if turn.reply and turn.reply.message and turn.reply.message.calls:
        yield Skip("servers often release a tool call as a whole")
        return
    yield from _in_lumps(turn, times)
    if len(times) < _PIECES or min(times) < _SILENCE:
        return
    took, total = span(times), max(times)
    if took <= _SHARE * total and len(times) >= _PACE * took:
        yield Found(
            f"{len(times)} pieces of the stream came within {took * 1000:.0f} ms, after "
            f"{min(times):.1f} s of silence",
            places=(at(turn, "response", "/stream"),),
            confidence="likely",
            evidence={"pieces": len(times), "first": min(times), "last": total},
        )


def _in_lumps(turn: Turn, times: tuple[float, ...]) -> Iterator[Found]:
    groups = bursts(times, _WITHIN)
    if groups < 2 or len(times) < max(_PIECES, _LUMP * groups):
        return
    pauses = [b - a for a, b in pairwise(sorted(times)) if b - a > _WITHIN]
    if min(pauses) >= _APART and span(times) - sum(pauses) <= _SHARE * span(times):
        yield Found(
            f"{len(times)} pieces of the stream came in {groups} bursts, "
            f"{min(pauses):.1f} s and more apart",
            places=(at(turn, "response", "/stream"),),
            confidence="likely",
            evidence={"pieces": len(times), "bursts": groups, "last": max(times)},
        )


@rule("stream.buffered", severity="warn", on=Comparison, relations=(Relation.RETURNED,))
def on_the_way(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    sent, got = seen_times(found.left), seen_times(found.right)
    if isinstance(sent, Skip) or isinstance(got, Skip):
        yield next(times for times in (sent, got) if isinstance(times, Skip))
        return
    if len(sent) < _FEWEST or not got or span(sent) < _SHORT:
        return
    if _length(found.right) < _KEPT * _length(found.left):
        yield Skip("a part of the reply is gone, and its time with it")
        return
    # Both streams end together, so the shorter one began late: no clock of two taps is needed.
    held = span(sent) - span(got)
    gap = max(0.005, 0.25 * usual_gap(sent))
    groups = bursts(sent, gap), bursts(got, gap)
    lumped = groups[0] >= _FEW and groups[1] <= _BURSTS * groups[0]
    long = span(sent) >= _SPAN
    whole = held >= _NEARLY_ALL * span(sent) and groups[1] <= 2 and (long or len(got) >= _FEW)
    if not (whole or (long and (lumped or held >= _HELD * span(sent)))):
        return
    yield Found(
        f"{actor(found)} held the stream back: {groups[0]} bursts over {span(sent):.1f} s became "
        f"{groups[1]} over {span(got):.1f} s",
        places=(at(found.right, "response", "/stream"),),
        before=(at(found.left, "response", "/stream"),),
        evidence={"held_back": round(held, 3), "bursts": list(groups)},
    )


def _length(turn: Turn) -> int:
    """Characters of text, reasoning and arguments that a reply holds."""
    message = turn.reply.message if turn.reply else None
    if message is None:
        return 0
    texts = (message.text, message.reasoning, *(call.arguments for call in message.calls))
    return sum(map(len, texts))
