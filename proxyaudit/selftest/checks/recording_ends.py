"""The recording says how each exchange ended."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Recorded, recorded


@recorded("recording.ends", proves="the recording says how each exchange ended")
def judge(played: Sequence[Recorded]) -> Iterator[Outcome]:
    """`complete`, `client_abort`, `upstream_eof`, `upstream_reset` and `upstream_refused` stand
    where these things happened, and no exchange is missing."""
    for play in played:
        rounds = len(play.script.rounds)
        for number, seen in enumerate(play.seen, 1):
            exchange = play.exchanges.get(seen.name)
            wanted = "complete" if number % rounds else play.script.end
            if exchange is None:
                yield Fail(f"an exchange that ended with {wanted} is not in the recording")
            elif exchange.end != wanted:
                yield Fail(f"{exchange.end} is recorded where it was {wanted}")
