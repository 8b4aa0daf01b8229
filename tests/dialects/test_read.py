"""From an exchange to a turn: what counts as one, and what never raises."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response
from proxyaudit.core.json import JSON
from proxyaudit.core.message import assistant, user
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import NotATurn, all_dialects, body_json, dialect_named, read_turn

ASK: JSON = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
ANSWER: JSON = {"choices": [{"message": {"role": "assistant", "content": "ho"}}]}
FRAME = b'data: {"choices":[{"delta":{"content":"ho"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def asked(
    body: JSON | bytes = ASK,
    response: Response | None = None,
    path: str = "/v1/chat/completions",
    method: str = "POST",
) -> Exchange:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange("x", "client", 0.0, Request(method, "http://h" + path, (), raw), response)


def answered(body: bytes, status: int = 200, kind: str = "application/json") -> Turn:
    turn = read_turn(asked(response=Response(status, (("content-type", kind),), body)))
    assert isinstance(turn, Turn)
    return turn


def test_a_chat_exchange_is_a_turn() -> None:
    turn = answered(json.dumps(ANSWER).encode())
    assert turn.dialect == "openai-chat"
    assert turn.prompt.messages == (user("hi"),)
    assert turn.reply is not None
    assert turn.reply.message == assistant("ho")


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions?x=1", "/openai/deployments/d/chat/completions", "/api/other"]
)
def test_the_path_is_a_hint_and_the_shape_decides(path: str) -> None:
    turn = read_turn(asked(path=path))
    assert isinstance(turn, Turn)
    assert turn.dialect == "openai-chat"
    assert turn.reply is None


@pytest.mark.parametrize(
    "exchange",
    [
        asked(b"", path="/v1/models", method="GET"),
        asked(b"", method="HEAD"),
        asked(b"no json"),
        asked([1, 2]),
        asked(path="/v1/messages/count_tokens"),
        asked({"input": ["a"]}, path="/v1/embeddings"),
        asked({"prompt": "a"}, path="/v1/images/generations"),
    ],
)
def test_other_requests_are_no_turns_and_say_why(exchange: Exchange) -> None:
    found = read_turn(exchange)
    assert isinstance(found, NotATurn)
    assert found.reason


def test_a_websocket_is_no_turn() -> None:
    exchange = Exchange("x", "client", 0.0, Request("GET", "ws://h/v1/responses"), websocket=())
    assert read_turn(exchange) == NotATurn("a websocket")


def test_a_stream_is_known_by_its_bytes_whatever_the_header_says() -> None:
    for kind in ("text/event-stream", "application/json", "text/plain"):
        reply = answered(FRAME, kind=kind).reply
        assert reply is not None
        assert reply.message == assistant("ho")
        assert reply.stream is not None


def test_json_under_a_stream_header_is_plain() -> None:
    reply = answered(b'{"error": {"message": "no"}}', kind="text/event-stream").reply
    assert reply is not None
    assert (reply.error, reply.stream) == ("no", None)


def test_an_empty_event_stream_is_a_stream_that_said_nothing() -> None:
    reply = answered(b"", kind="text/event-stream").reply
    assert reply is not None
    assert reply.message is None
    assert reply.stream is not None


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"error": {"message": "slow down"}}', "slow down"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b"<html>504</html>", "<html>504</html>"),
        (b"x" * 900, "x" * 200),
        (b"", "status 502"),
    ],
)
def test_a_refusal_has_an_error_text_whatever_its_body(body: bytes, error: str) -> None:
    turn = answered(body, status=502)
    assert turn.reply is not None
    assert turn.reply.error == error
    assert not turn.ok


def test_a_good_status_with_a_page_is_an_error_and_an_empty_body_says_nothing() -> None:
    page, empty = answered(b"<html>login</html>").reply, answered(b"").reply
    assert page is not None
    assert "not a JSON object: <html>login" in (page.error or "")
    assert empty is not None
    assert (empty.message, empty.error) == (None, None)


def test_an_encoded_request_and_stream_are_read_with_times() -> None:
    packed = gzip.compress(FRAME)
    headers = (("content-encoding", "gzip"), ("content-type", "text/event-stream"))
    request = Request(
        "POST",
        "http://h/v1/chat/completions",
        (("content-encoding", "gzip"),),
        gzip.compress(json.dumps(ASK).encode()),
    )
    chunks = (Chunk(0.5, 10), Chunk(1.5, len(packed) - 10))
    turn = read_turn(
        Exchange("x", "client", 0, request, Response(200, headers, packed, "", chunks))
    )
    assert isinstance(turn, Turn)
    assert turn.reply is not None
    assert turn.reply.stream is not None
    assert turn.reply.stream.text_times == (1.5,)
    assert body_json(request) == ASK


def test_half_a_surrogate_pair_in_a_request_is_read() -> None:
    turn = read_turn(asked(b'{"messages": [{"role": "user", "content": "a\\ud83d"}]}'))
    assert isinstance(turn, Turn)
    assert turn.prompt.messages[0].content == user("a?").content


PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/responses", "/x", "http://[bad")


@given(path=st.sampled_from(PATHS), ask=st.binary(max_size=40), answer=st.binary(max_size=60))
def test_no_bytes_raise(path: str, ask: bytes, answer: bytes) -> None:
    for body in (ask, json.dumps(ASK).encode(), b'{"input": "a"}'):
        for data in (answer, b"data: " + answer + b"\n\n"):
            assert isinstance(
                read_turn(asked(body, Response(200, (), data), path)), Turn | NotATurn
            )


def test_dialects_are_found_and_have_names_of_their_own() -> None:
    names = [dialect.name for dialect in all_dialects()]
    assert "openai-chat" in names
    assert len(set(names)) == len(names)
    assert [dialect_named(name) for name in names] == list(all_dialects())
    assert dialect_named("smoke-signals") is None
