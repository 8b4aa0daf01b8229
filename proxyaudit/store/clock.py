"""Exchanges of a recording in order of start, also where the clock was set back while it ran.

Lines are written when an exchange ends (or, by other programs, in order of start). A line that both
began and ended before the one ahead of it contradicts the clock. That alone may be the mark of
files put together in any order; where its request goes on from one that is later by the clock, it
can only have been sent after that, and the times from there on are moved.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pydantic_core import from_json

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Flaw
from proxyaudit.wire.content import decoded

# Lines of exchanges that end together may change places; seconds.
_JITTER = 0.05
# So many exchanges on either side of a step back are looked at; side requests stand between.
_REACH = 8
_HISTORIES = ("messages", "input", "contents")
_AFTER = 0.001
# A file with more steps back is in no order at all.
_MANY = 32


def in_order(found: Iterable[Exchange], flaws: list[Flaw]) -> tuple[Exchange, ...]:
    """The exchanges of a file in order of start; of equal ones in that of the file.

    Where the clock went back, `flaws` gets an entry and what follows starts later by as much.
    """
    runs = list(_runs(found))
    moved = 0.0
    whole: list[Exchange] = list(runs[0]) if runs else []
    for before, after in pairwise(runs):
        step = _step(before, after) if len(runs) <= _MANY else None
        if step is not None:
            flaws.append(
                Flaw(
                    f"exchange {after[0].id}",
                    f"the clock was set back by {step:,.1f} s or more before it began; it and what "
                    "follows is told as that much later",
                )
            )
            moved += step
        whole += [_later(exchange, moved) for exchange in after]
    return tuple(sorted(whole, key=lambda exchange: exchange.started_at))


def _runs(found: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """The exchanges in the order of the file, cut where one contradicts the clock."""
    run: list[Exchange] = []
    latest: dict[str, Exchange] = {}
    for exchange in found:
        last = latest.get(exchange.tap)
        if last is not None and _contradicts(last, exchange):
            yield run
            run, latest = [], {}
            last = None
        run.append(exchange)
        if last is None or _end(exchange) > _end(last):
            latest[exchange.tap] = exchange
    if run:
        yield run


def _contradicts(last: Exchange, exchange: Exchange) -> bool:
    if not (last.timed and exchange.timed):
        return False
    return exchange.started_at < last.started_at and _end(exchange) < _end(last) - _JITTER


def _end(exchange: Exchange) -> float:
    """When it ended. One that never did is written last, whenever it began."""
    response = exchange.response
    if response is None or response.ended_at is None:
        return float("inf") if response is None else exchange.started_at
    return exchange.started_at + response.ended_at


def _step(before: Sequence[Exchange], after: Sequence[Exchange]) -> float | None:
    """By how many seconds at least the clock went back between two runs; None if nothing shows
    that the second run was later indeed."""
    histories = [(exchange, _history(exchange)) for exchange in before[-_REACH:]]
    for exchange in after[:_REACH]:
        history = _history(exchange)
        for old, left in histories:
            late = old.tap == exchange.tap and old.started_at > exchange.started_at
            if late and _goes_on(left, history):
                end = max(_end(e) for e in before[-_REACH:] if e.response is not None)
                return end + _AFTER - min(e.started_at for e in after[:_REACH])
    return None


def _goes_on(left: Sequence[JSON], right: Sequence[JSON]) -> bool:
    """Whether a history begins with all of another one and has more behind it."""
    return bool(left) and len(right) > len(left) and list(right[: len(left)]) == list(left)


def _history(exchange: Exchange) -> list[JSON]:
    """The messages of a request, whatever its format; none if it has no list of them."""
    request = exchange.request
    try:
        body = from_json(decoded(request.headers, request.body).data)
    except ValueError:
        return []
    lists = (body.get(name) for name in _HISTORIES) if isinstance(body, dict) else ()
    found = next((value for value in lists if isinstance(value, list)), [])
    return [_unmarked(message) for message in found]


def _unmarked(value: JSON) -> JSON:
    """A value without the cache markers that move from turn to turn."""
    match value:
        case dict():
            return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
        case list():
            return [_unmarked(item) for item in value]
        case _:
            return value


def _later(exchange: Exchange, seconds: float) -> Exchange:
    if not seconds:
        return exchange
    return replace(exchange, started_at=exchange.started_at + seconds)
