"""Exchanges that are no turns (lists of models): what both taps saw of one request."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Suspect
from proxyaudit.rules.base import Found

# Clocks of the two taps are those of one machine; a hop takes a moment to pass a request on.
_SLACK = 0.05


def told_once(
    results: Sequence[tuple[Exchange, Sequence[Found]]],
) -> Iterator[tuple[Found, Suspect]]:
    """The findings of a rule in all exchanges of a recording, each with a suspect.

    What the client saw and the upstream tap saw too came from the server, and is told once.
    """
    clients = [(e, found) for e, found in results if e.tap == "client"]
    upstreams = [(e, found) for e, found in results if e.tap == "upstream"]
    for exchange, here in clients:
        twin = next((u for u in upstreams if _is_twin(exchange, u[0])), None) if here else None
        if twin:
            upstreams.remove(twin)
        there = twin[1] if twin else ()
        places = [place for found in there for place in found.places]
        alone: Suspect = "proxy" if len(results) > len(clients) else "upstream"
        for found in here:
            yield replace(found, places=(*found.places, *places)), "server" if there else alone
    for _, there in upstreams:
        for found in there:
            yield found, "server"


def _is_twin(client: Exchange, upstream: Exchange) -> bool:
    """Whether an upstream request was made for one of the client, by its time and its address."""
    took = client.response.ended_at if client.response else None
    wait = upstream.started_at - client.started_at
    within = -_SLACK <= wait <= (took if took is not None else 0.0) + _SLACK
    return within and _address(client) == _address(upstream)


def _address(exchange: Exchange) -> tuple[str, str]:
    path = exchange.request.url.partition("?")[0].rstrip("/")
    return exchange.request.method.upper(), path.rpartition("/")[2]
