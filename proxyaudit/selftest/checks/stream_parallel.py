"""Streams beside one another."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds, stream_differences
from proxyaudit.selftest.script import ROUND, Pair, Script, Seen, in_lockstep, post

_CLIENTS = 12


def _scripts() -> tuple[Script, ...]:
    stream = post(in_lockstep([b"data: %d of %s\n\n" % (n, ROUND) for n in range(20)]))
    return (Script((stream,), clients=_CLIENTS),)


@check(
    "stream.parallel",
    proves="streams at the same time do not wait for one another, and are not mixed up",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Twelve clients at once, each on a connection of its own, each chunk in lockstep; and every
    client gets the answer to its own request."""
    for direct, through in rounds(pairs):
        for difference in stream_differences(_unnamed(direct), _unnamed(through)):
            yield Fail(difference)


def _unnamed(seen: Seen) -> Seen:
    """With the mark in the place of its own name; the name of another client stays."""
    if seen.response is None:
        return seen
    frames = tuple(frame.replace(seen.name.encode(), ROUND) for frame in seen.response.frames)
    return replace(seen, response=replace(seen.response, frames=frames))
