"""A glance sees what a turn is, and never more than it can afford."""

import gzip
import json
from typing import Any

import pytest

from proxyaudit.core.exchange import Exchange, Headers, Request, Response
from proxyaudit.core.json import JSON
from proxyaudit.dialects import glance as module
from proxyaudit.dialects import read
from proxyaudit.dialects.glance import LIMIT, TOO_LARGE, Glance, glance
from proxyaudit.dialects.read import NotATurn, body_json, read_turn

HI: JSON = [{"role": "user", "content": "hi"}]


def asked(
    body: JSON | bytes, path: str = "/v1/chat/completions", headers: Headers = (), **more: Any
) -> Exchange:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(more.pop("method", "POST"), f"http://tap{path}", headers, raw)
    return Exchange("x", "client", 0.0, request, **more)


@pytest.mark.parametrize(
    ("path", "body", "seen"),
    [
        ("/v1/chat/completions", {"model": "m", "messages": HI}, Glance("m", 1)),
        ("/v1/chat/completions", {"messages": []}, Glance(None, 0)),
        ("/v1/messages", {"model": "c", "system": "s", "messages": HI}, Glance("c", 1)),
        ("/v1/responses", {"model": "r", "input": "hi"}, Glance("r", 1)),
        ("/v1/responses", {"model": "r", "previous_response_id": "p"}, Glance("r", 0)),
    ],
)
def test_turns(path: str, body: JSON, seen: Glance) -> None:
    """The model's name and the number of messages as sent, in every dialect."""
    assert glance(asked(body, path)) == seen


@pytest.mark.parametrize(
    "exchange",
    [
        asked(b"", "/v1/models", method="GET"),
        asked({"input": "x"}, "/v1/embeddings"),
        asked(b"\xff{", "/v1/chat/completions"),
        asked([1], "/v1/chat/completions"),
        asked({"a": 1}, "/other"),
        asked({"model": "m", "messages": HI}, websocket=()),
    ],
)
def test_no_turns(exchange: Exchange) -> None:
    """What is no turn is none at a glance, for the same reason."""
    reason = read_turn(exchange)
    assert isinstance(reason, NotATurn)
    assert glance(exchange) == reason


def test_large_requests_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing holds up every other thread; nothing of that size is even tried."""

    def never(exchange: Exchange) -> NotATurn:
        raise AssertionError("parsed")

    monkeypatch.setattr(module, "recognized", never)
    assert glance(asked(b" " * LIMIT)) is TOO_LARGE
    with pytest.raises(AssertionError):
        glance(asked(b" " * (LIMIT - 1)))


def test_compressed_requests_count_as_unpacked() -> None:
    """A few kilobytes that hold many megabytes are large; what is small is looked into."""
    packed: Headers = (("Content-Encoding", "gzip"),)
    assert glance(asked(gzip.compress(b" " * (3 * LIMIT)), headers=packed)) is TOO_LARGE
    body = json.dumps({"model": "m", "messages": HI}).encode()
    assert glance(asked(gzip.compress(body), headers=packed)) == Glance("m", 1)


def test_replies_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply of any size costs nothing."""
    answered = asked({"model": "m", "messages": HI}, response=Response(200, (), b"data: {}"))
    sides: list[object] = []

    def noted(message: Request | Response) -> JSON:
        sides.append(type(message))
        return body_json(message)

    monkeypatch.setattr(read, "body_json", noted)
    monkeypatch.setattr(read, "read_response", None)
    assert glance(answered) == Glance("m", 1)
    assert sides == [Request]
