"""stream.bad_frame"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.reading import event_place
from proxyaudit.rules.wording import count

_BAD = frozenset({"bad_json", "bad_line"})
_SHOWN = 5


@rule("stream.bad_frame", severity="error", on=Turn)
def bad_frame(turn: Turn, facts: Facts) -> Iterator[Found]:
    """A data frame is not JSON and not the sentinel.

    What it does
        Reports events whose data is neither JSON nor the sentinel, and lines that are no field of
        an event stream. Comments (lines that begin with a colon) and events without data are
        lawful. An event torn by the end of the stream is not counted: see stream.truncated.

    Why it matters
        Clients parse every `data:` line. One that is not JSON makes strict SDKs throw away the
        whole reply in the middle.

    Example
        Bad: data: : gateway working
        Good: : gateway working

    What to look at next
        Keep-alive settings of the proxy, and log lines or HTML pages that got into the stream.
    """
    stream = turn.reply.stream if turn.reply else None
    faults = stream.faults if stream else ()
    # An event whose data is empty is no event at all to a decoder.
    bad = [f for f in faults if f.kind in _BAD and f.detail.strip()]
    if not bad:
        return
    what = "is neither JSON nor the sentinel"
    if len(bad) > 1:
        what = "are neither JSON nor the sentinel"
    yield Found(
        f"{count(len(bad), 'frame')} of the stream {what}: {bad[0].detail[:60]!r}",
        places=tuple(event_place(turn, e) for e in sorted({f.event for f in bad})[:_SHOWN]),
        evidence={"text": bad[0].detail, "frames": len(bad)},
    )
