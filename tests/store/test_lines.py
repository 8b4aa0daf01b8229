"""Exchange to line and back, byte for byte."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response, WebSocketMessage
from proxyaudit.core.recording import Assume
from proxyaudit.store.lines import (
    Begun,
    Ended,
    Opening,
    Whole,
    WrongFormat,
    from_line,
    opening_line,
    request_line,
    response_line,
    to_line,
)

Make = Callable[..., Exchange]

# What capture hands over: UTF-8 where it is, surrogate escapes for other bytes.
wire_text = st.binary(max_size=20).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
bodies = st.binary(max_size=60) | plain_text.map(str.encode)
headers = st.lists(st.tuples(wire_text, wire_text), max_size=3).map(tuple)
seconds = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e3, max_value=4e9)
chunks = st.lists(st.builds(Chunk, seconds, st.integers(0, 1 << 40)), max_size=3).map(tuple)
requests = st.builds(
    Request,
    plain_text,
    wire_text,
    headers,
    bodies,
    st.sampled_from(["HTTP/1.1", "HTTP/2.0"]),
    chunks,
)
responses = st.builds(
    Response, st.integers(0, 999), headers, bodies, plain_text, chunks, st.none() | seconds
)
messages = st.builds(
    WebSocketMessage, seconds, st.sampled_from(["client", "server"]), plain_text | st.binary()
)
exchanges = st.builds(
    Exchange,
    plain_text,
    st.sampled_from(["client", "upstream"]),
    seconds,
    requests,
    st.none() | responses,
    st.sampled_from(["complete", "client_abort", "upstream_reset", "recorder_stopped"]),
    st.none() | plain_text,
    st.none() | plain_text,
    st.none() | st.lists(messages, max_size=3).map(tuple),
    st.booleans(),
)


@given(exchanges)
def test_a_whole_line_gives_back_the_same_exchange(exchange: Exchange) -> None:
    """Any bytes, odd header characters and times survive, in one line of JSON."""
    raw = to_line(exchange)
    assert raw.count(b"\n") == 1
    json.loads(raw)
    assert from_line(raw) == Whole(exchange)


@given(exchanges)
def test_the_two_phases_together_hold_the_exchange(exchange: Exchange) -> None:
    """The request line lacks the outcome, the response line holds nothing but the outcome."""
    begun, ended = from_line(request_line(exchange)), from_line(response_line(exchange))
    assert isinstance(begun, Begun)
    assert isinstance(ended, Ended)
    assert begun.exchange == replace(
        exchange, response=None, end="recorder_stopped", error=None, websocket=None, timed=True
    )
    assert ended == Ended(
        exchange.id,
        exchange.response,
        exchange.end,
        exchange.error,
        exchange.websocket,
        exchange.timed,
    )


def test_the_response_line_repeats_nothing_of_the_request(exchange: Make) -> None:
    assert set(json.loads(response_line(exchange()))) == {
        "format",
        "phase",
        "id",
        "response",
        "end",
        "error",
        "websocket",
    }


@pytest.mark.parametrize(
    ("body", "key"),
    [
        (b'{"a": 1.0, "a": 1e0}', "body"),
        ("\ufeff{}".encode(), "body"),
        ("\u2028\x85\x00\r\n".encode(), "body"),
        (b"", "body"),
        (b"\xed\xa0\x80", "body_base64"),
        (b"\x1f\x8b\x08\x00", "body_base64"),
    ],
)
def test_a_body_is_a_string_unless_it_is_not_utf8(body: bytes, key: str, exchange: Make) -> None:
    """A byte order mark stays, encoded surrogates are not UTF-8, controls do not end the line."""
    sent = replace(exchange().request, body=body)
    raw = to_line(exchange(request=sent))
    assert key in json.loads(raw)["request"]
    assert len(raw.splitlines()) == 1
    line = from_line(raw)
    assert isinstance(line, Whole)
    assert line.exchange.request.body == body


def test_headers_that_are_not_utf8_are_readable_and_exact(exchange: Make) -> None:
    odd = (("x-name", b"caf\xe9".decode("utf-8", "surrogateescape")), ("plain", "é"))
    raw = to_line(exchange(request=replace(exchange().request, headers=odd)))
    part = json.loads(raw)["request"]
    assert part["headers"] == [["x-name", "caf\ufffd"], ["plain", "é"]]
    assert part["headers_base64"] == [["eC1uYW1l", "Y2Fm6Q=="], ["cGxhaW4=", "w6k="]]


def test_text_that_no_bytes_stand_for_cannot_break_the_line(exchange: Make) -> None:
    """A lone high surrogate is no escaped byte; it becomes U+FFFD instead of an error."""
    bad = "\ud83d"
    request = Request(bad, "http://x/" + bad, ((bad, bad),), http_version=bad)
    raw = to_line(exchange(id=bad, request=request, error=bad, connection=bad))
    line = from_line(raw)
    assert isinstance(line, Whole)
    assert line.exchange.request.url == "http://x/\ufffd"


def test_unknown_keys_are_ignored(exchange: Make) -> None:
    line = json.loads(to_line(exchange()))
    line["later"] = line["request"]["later"] = line["response"]["later"] = {"a": [1]}
    assert from_line(json.dumps(line).encode()) == Whole(exchange())


def test_a_line_of_another_program_may_leave_out_what_has_a_default() -> None:
    """Tap, end, versions, headers, bodies and chunks may be missing."""
    line = from_line(
        b'{"id": "1", "started_at": 3, "request": {"method": "GET", "url": "http://x/"},'
        b' "response": {"status": 200, "body": "ok"}}'
    )
    assert line == Whole(
        Exchange(
            "1", "client", 3.0, Request("GET", "http://x/"), Response(200, body=b"ok"), timed=False
        )
    )


def test_a_body_without_chunks_was_not_timed(exchange: Make) -> None:
    """`timed` is written only where the chunks do not say it themselves."""
    untimed = exchange(timed=False, response=Response(200, body=b"ok"))
    assert "timed" not in json.loads(to_line(untimed))
    assert from_line(to_line(untimed)) == Whole(untimed)


def test_an_opening_line_states_facts() -> None:
    facts = Assume(reasoning_echo="always", model_aliases={"a": ["b"]})
    assert from_line(opening_line(facts)) == Opening(facts)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"{", "JSON"),
        (b"[]", "object"),
        (b'{"id": "1"}', "request: missing"),
        (b'{"id": "1", "request": {"method": "GET", "url": "u"}}', "started_at: missing"),
        (b'{"id": "1", "started_at": 1, "request": {"method": "GET"}}', "request.url"),
        (b'{"id": "1", "started_at": NaN, "request": {}}', "started_at"),
        (
            b'{"id":"1","started_at":1,"request":{"method":"G","url":"u","body_base64":"?"}}',
            "not base64",
        ),
    ],
)
def test_what_is_no_exchange_is_a_value_error_that_says_why(raw: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_line(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_line_or_a_value_error(raw: bytes) -> None:
    """Nothing else may come out of foreign data."""
    try:
        from_line(raw)
    except ValueError:
        return


def test_another_version_is_told_apart() -> None:
    with pytest.raises(WrongFormat, match="exchange/2"):
        from_line(b'{"format": "proxyaudit.exchange/2", "id": 7}')
