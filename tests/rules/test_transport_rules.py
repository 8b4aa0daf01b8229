"""transport.encoding_mismatch, transport.body_too_large, transport.gateway_timeout"""

import gzip
from dataclasses import replace

import pytest
from rules.builders import MESSAGES, answered, back, findings, headed, pointers, turn

from proxyaudit.core.exchange import Headers
from proxyaudit.core.message import user
from proxyaudit.core.turn import Turn

ENCODING = "transport.encoding_mismatch"
SIZE = "transport.body_too_large"
TIMEOUT = "transport.gateway_timeout"
JSON = b'{"id": "r", "choices": []}'
GZIP = gzip.compress(JSON, mtime=0)


def encoded(body: bytes, *headers: tuple[str, str]) -> Turn:
    made = answered(turn(user("When?")), body=body)
    assert made.exchange.response
    named: Headers = (("Content-Type", "application/json"), *headers)
    return replace(
        made,
        exchange=replace(made.exchange, response=replace(made.exchange.response, headers=named)),
    )


@pytest.mark.parametrize("name", ["gzip", "br", "zstd", "deflate"])
def test_a_plain_body_under_a_header_that_says_otherwise(name: str) -> None:
    found = findings(ENCODING, encoded(JSON, ("Content-Encoding", name)))
    assert pointers(found) == ["/headers/content-encoding"]


def test_packed_data_without_a_header() -> None:
    assert pointers(findings(ENCODING, encoded(GZIP))) == ["/headers"]


def test_a_request_counts_too() -> None:
    made = headed(turn(user("When?")), content_encoding="gzip")
    request = replace(made.exchange.request, body=b'{"model": "m"}')
    made = replace(made, exchange=replace(made.exchange, request=request))
    assert findings(ENCODING, made)[0].places[0].side == "client.request"


@pytest.mark.parametrize(
    "made",
    [
        encoded(JSON),
        encoded(GZIP, ("Content-Encoding", "gzip")),
        encoded(JSON, ("Content-Encoding", "identity")),
        encoded(GZIP[:-4], ("Content-Encoding", "gzip")),
        encoded(b"", ("Content-Encoding", "gzip")),
        encoded(JSON, ("Content-Encoding", "snappy")),
    ],
)
def test_near_miss_a_header_that_fits_or_a_torn_body(made: Turn) -> None:
    assert findings(ENCODING, made) == []


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (413, b"<title>413 Request Entity Too Large</title>"),
        (413, b'{"error": {"type": "request_too_large"}}'),
        (500, b"PayloadTooLargeError: request entity too large"),
        (400, b'{"message": "Request body too large for this endpoint"}'),
    ],
)
def test_a_body_refused_for_its_size(status: int, body: bytes) -> None:
    made = answered(turn(user("Read."), dialect=MESSAGES), status, body)
    assert pointers(findings(SIZE, made)) == ["/status"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"Request Entity Too Large"),
        (400, b"This model's maximum context length is 8192 tokens; the request has 9000."),
        (400, b"max_tokens is too large: 90000"),
        (429, b"Request too large for tier: 30000 tokens per minute"),
    ],
)
def test_near_miss_too_many_tokens_are_another_matter(status: int, body: bytes) -> None:
    assert findings(SIZE, answered(turn(user("Read.")), status, body)) == []


@pytest.mark.parametrize(
    ("status", "seconds", "body"),
    [
        (504, 60.0, b"<h1>504 Gateway Time-out</h1>"),
        (504, 0.1, b""),
        (524, 100.0, b""),
        (502, 30.0, b"<h1>502 Bad Gateway</h1>"),
        (408, 2.0, b'{"error": {"message": "Request timed out."}}'),
        (503, 0.2, b"upstream request timeout"),
    ],
)
def test_a_hop_that_gave_up(status: int, seconds: float, body: bytes) -> None:
    found = findings(TIMEOUT, answered(turn(user("Tell.")), status, body, seconds))
    assert [(f.severity, f.places[0].pointer) for f in found] == [(None, "/status")]


def test_a_backend_that_is_not_there_is_told_at_info() -> None:
    made = answered(turn(user("Tell.")), 502, b"<h1>502 Bad Gateway</h1>", 0.01)
    assert [f.severity for f in findings(TIMEOUT, made)] == ["info"]


def test_a_quick_refusal_though_the_backend_answered() -> None:
    client = answered(turn(user("Tell.")), 502, b"", 0.3)
    found = findings(TIMEOUT, back(turn(user("Tell."), tap="upstream"), client))
    assert [f.severity for f in found] == [None]


@pytest.mark.parametrize("status", [200, 429, 500, 529])
def test_near_miss_other_statuses(status: int) -> None:
    made = answered(turn(user("Tell.")), status, b"", 90.0)
    assert findings(TIMEOUT, made) == []
    assert findings(TIMEOUT, back(turn(user("Tell."), tap="upstream"), made)) == []


def test_near_miss_the_backend_gave_up_itself() -> None:
    slow = answered(turn(user("Tell."), tap="upstream"), 504, b"", 60.0)
    assert findings(TIMEOUT, back(slow, answered(turn(user("Tell.")), 504, b"", 60.0))) == []


@pytest.mark.parametrize(
    ("seconds", "text", "alarms"),
    [(600.0, b"Request timed out", 1), (0.2, b"Request timed out", 0), (600.0, b"Crash", 0)],
)
def test_a_500_that_speaks_of_a_long_wait(seconds: float, text: bytes, alarms: int) -> None:
    made = answered(turn(user("hi"), reply=None), 500, text, seconds)
    assert len(findings("transport.gateway_timeout", made)) == alarms
