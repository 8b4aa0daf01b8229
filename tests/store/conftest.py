"""Exchanges to store."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response

_SIMPLE = Exchange(
    id="a1",
    tap="client",
    started_at=1796081688.005,
    connection="c1",
    request=Request(
        "POST",
        "http://127.0.0.1:8080/v1/chat/completions",
        (("Content-Type", "application/json"),),
        b'{"model": "m",  "messages": []}',
        chunks=(Chunk(0.0, 31),),
    ),
    response=Response(
        200,
        (("content-type", "text/event-stream"),),
        b"data: {}\n\ndata: [DONE]\n\n",
        chunks=(Chunk(0.25, 10), Chunk(0.5, 14)),
        ended_at=0.5001,
    ),
)


@pytest.fixture
def exchange() -> Callable[..., Exchange]:
    """A maker of exchanges: one plain exchange, with the fields given changed."""

    def make(**changes: Any) -> Exchange:
        return replace(_SIMPLE, **changes)

    return make
