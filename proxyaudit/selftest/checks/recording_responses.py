"""The recording holds the answers that came."""

from collections.abc import Iterator, Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.selftest.base import Fail, Outcome, Recorded, recorded
from proxyaudit.selftest.record import body_difference, header_differences
from proxyaudit.selftest.script import Seen


@recorded("recording.responses", proves="the recording holds the answers, chunk by chunk")
def judge(played: Sequence[Recorded]) -> Iterator[Outcome]:
    """Status, headers in order, body and chunks are those that the upstream sent, as far as it
    came; so are the upstream's messages on a websocket."""
    for play in played:
        for seen in play.seen:
            exchange = play.exchanges.get(seen.name)
            if exchange is not None and seen.answered is not None and seen.gone is None:
                yield from map(Fail, _differences(seen, exchange))


def _differences(seen: Seen, exchange: Exchange) -> Iterator[str]:
    sent, kept = seen.answered, exchange.response
    assert sent is not None
    if kept is None:
        yield f"an answer with status {sent.status} is not in the recording"
        return
    if kept.status != sent.status:
        yield f"status {kept.status} is recorded, {sent.status} was sent"
    yield from header_differences(sent.headers, kept.headers)
    if told := body_difference(sent.body, kept.body):
        yield told
    sizes = [chunk.size for chunk in kept.chunks]
    if sent.framing == "chunked" and sent.complete and sizes != [len(f) for f in sent.frames]:
        yield f"{len(sizes)} chunks are recorded, {len(sent.frames)} were sent"
    said = tuple(m.data for m in exchange.websocket or () if m.sender == "server")
    if said != seen.heard:  # it is an echo
        yield f"{len(said)} of {len(seen.heard)} websocket messages are recorded"
