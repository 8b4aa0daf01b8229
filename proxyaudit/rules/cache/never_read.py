"""cache.never_read"""

from collections.abc import Iterator, Sequence

from proxyaudit.core.finding import Skip
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.cache.written import are_equal, prefix, tells_written, unread_runs
from proxyaudit.rules.reading import whole

# So many writes, each after the one before it had ended; two of equal requests tell as much.
_WRITES = 3


@rule("cache.never_read", severity="warn", on=Traffic)
def never_read(traffic: Traffic, facts: Facts) -> Iterator[Outcome]:
    """Same prefix, cache written every time and never read.

    What it does
        Looks at requests with the same model, tools and instructions that follow each other within
        five minutes, each sent when the one before had been answered, and holding all of it (or
        what stood before its first marker). Reports it if every reply says that tokens were written
        to the cache and that none were read: three in a row, or two equal requests. Replies that do
        not tell both numbers say nothing.

    Why it matters
        Writing costs more than plain input. A cache that is only written makes every turn dearer
        than without one.

    Example
        Bad: three times {"cache_creation_input_tokens": 3120, "cache_read_input_tokens": 0}
        Good: the second time {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 3120}

    What to look at next
        Whether the proxy sends each request to another backend or account, and whether it changes
        something early in the prompt: compare the two taps.
    """
    groups: dict[str, list[Turn]] = {}
    for turn in traffic.turns:
        if whole(turn) is not None and tells_written(turn):
            groups.setdefault(prefix(turn), []).append(turn)
    if not groups:
        yield Skip("no reply tells what was written to a cache")
    for turns in groups.values():
        for run in unread_runs(turns):
            if len(run) >= _WRITES or are_equal(run):
                yield _found(run)


def _found(run: Sequence[Turn]) -> Found:
    usages = [turn.reply.usage for turn in run if turn.reply and turn.reply.usage]
    return Found(
        f"the cache was written {len(run)} times for the same prefix and never read",
        places=tuple(
            at(t, "response", u.pointer) for t, u in list(zip(run, usages, strict=True))[1:]
        ),
        before=(at(run[0], "response", usages[0].pointer),),
        confidence="likely",
        evidence={"written": [usage.written for usage in usages]},
    )
