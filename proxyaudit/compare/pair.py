"""Join the same request across two taps, by content and order; the recorder injects no header."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from proxyaudit.core.turn import Turn

# Seconds. Clocks of two taps in one process agree but for rounding; those of an imported pair may
# not, quite, so that a wider window is tried where nothing fits the narrow one.
_SLACKS = (0.003, 0.5)


@dataclass(frozen=True, slots=True)
class Hop:
    """A client turn and the upstream turns it caused, in order: retries and pre-flights too."""

    client: Turn
    upstream: tuple[Turn, ...]

    @property
    def answered(self) -> Turn:
        """The upstream turn whose reply the client got: the last."""
        return self.upstream[-1]


def pair(clients: Sequence[Turn], upstreams: Iterable[Turn]) -> list[Hop]:
    """Give each upstream turn to the client turn that was open at the time and is most like it."""
    groups: dict[str, list[Turn]] = {}
    for turn in sorted(upstreams, key=lambda t: t.exchange.started_at):
        best = client_of(turn, clients, groups)
        if best is not None:
            groups.setdefault(best.id, []).append(turn)
    return [Hop(c, tuple(groups[c.id])) for c in clients if c.id in groups]


def client_of(turn: Turn, clients: Sequence[Turn], groups: Collection[str]) -> Turn | None:
    """The client turn that an upstream turn was sent for. `groups` are the ids of those that have
    got an upstream turn already."""
    for slack in _SLACKS:
        open_then = [c for c in clients if _open(c, turn, slack)]
        if len(open_then) == 1:
            return open_then[0]
        if open_then:
            return max(open_then, key=lambda c: _score(c, turn, c.id in groups))
    return None


def _open(client: Turn, upstream: Turn, slack: float) -> bool:
    start, now = client.exchange.started_at, upstream.exchange.started_at
    response = client.exchange.response
    if response is None or response.ended_at is None:
        return start - slack <= now
    return start - slack <= now <= start + response.ended_at + slack


def _score(client: Turn, upstream: Turn, taken: bool) -> tuple[float, ...]:
    same = client.exchange.request.body == upstream.exchange.request.body
    left = Counter(m.content for m in client.prompt.messages)
    right = Counter(m.content for m in upstream.prompt.messages)
    shared = (left & right).total() / max(1, (left | right).total())
    last = bool(
        client.prompt.messages
        and upstream.prompt.messages
        and client.prompt.messages[-1].content == upstream.prompt.messages[-1].content
    )
    gap = upstream.exchange.started_at - client.exchange.started_at
    return (float(same), float(last), round(shared, 3), float(not taken), -abs(gap))
