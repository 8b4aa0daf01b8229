"""The recording holds the requests that were sent."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Recorded, recorded
from proxyaudit.selftest.record import body_difference, header_differences


@recorded("recording.requests", proves="the recording holds the requests, byte for byte")
def judge(played: Sequence[Recorded]) -> Iterator[Outcome]:
    """Method, headers in order (secrets by their names only, for they are replaced) and body are
    those that the client sent; so are the client's messages on a websocket."""
    for play in played:
        for round_, seen in zip(play.script.rounds * play.script.clients, play.seen, strict=True):
            exchange, sent = play.exchanges.get(seen.name), seen.sent
            if exchange is None or sent is None or not sent.complete:
                continue
            if exchange.request.method.encode() != sent.first.partition(b" ")[0]:
                yield Fail(f"the method is recorded as {exchange.request.method!r}")
            for difference in header_differences(sent.headers, exchange.request.headers):
                yield Fail(difference)
            if told := body_difference(sent.body, exchange.request.body):
                yield Fail(told)
            said = tuple(m.data for m in exchange.websocket or () if m.sender == "client")
            if round_.messages and said != round_.messages:
                yield Fail(f"{len(said)} of {len(round_.messages)} websocket messages are recorded")
