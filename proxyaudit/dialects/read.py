"""Exchanges into turns: picks the dialect and reads request and reply. Never raises."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import proxyaudit.dialects
from proxyaudit.core.exchange import Chunk, Exchange, Request, Response, header
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.turn import Reply, StreamEvent, StreamFault, Turn
from proxyaudit.dialects.base import Dialect, Framing
from proxyaudit.dialects.fields import QUOTE, fields_of_path, parse_json, path_of, refusal_text
from proxyaudit.dialects.growing import GrowingReader
from proxyaudit.dialects.websocket import read_websocket
from proxyaudit.wire.content import decoded
from proxyaudit.wire.ndjson import decode_array, decode_lines
from proxyaudit.wire.sse import decode, looks_like_sse

_NO_TURN = (
    "count_tokens",
    "input_tokens",
    "tokenize",
    "detokenize",
    "apply-template",
    "embeddings",
    "moderations",
    "rerank",
    "batches",
    "compact",
)


_BODIES = GrowingReader()

type _Decoder = Callable[
    [bytes, Sequence[Chunk], bool], tuple[list[StreamEvent], list[StreamFault]]
]


@dataclass(frozen=True, slots=True)
class NotATurn:
    """An exchange that asks nothing of a model, or in a way no dialect reads, and why."""

    reason: str


WEBSOCKET = NotATurn("a websocket")


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """The `DIALECT` of every module in this package, by name."""
    found: list[Dialect] = []
    for info in pkgutil.iter_modules(proxyaudit.dialects.__path__, "proxyaudit.dialects."):
        dialect = getattr(importlib.import_module(info.name), "DIALECT", None)
        if dialect is not None:
            found.append(dialect)
    return tuple(sorted(found, key=lambda dialect: dialect.name))


def dialect_named(name: str) -> Dialect | None:
    """The dialect with a name such as `openai-chat`; None if there is none."""
    return next((dialect for dialect in all_dialects() if dialect.name == name), None)


def body_json(message: Request | Response) -> JSON:
    """The JSON value of a body, content encoding undone; None if it is no JSON."""
    parse = _BODIES.parse if isinstance(message, Request) else parse_json
    try:
        return parse(decoded(message.headers, message.body).data)
    except ValueError:
        return None


def recognized(exchange: Exchange) -> tuple[Dialect, JSONObject] | NotATurn:
    """The dialect of an exchange and the body of its request; or why it is no turn."""
    request = exchange.request
    if exchange.websocket is not None:
        return WEBSOCKET
    if request.method.upper() != "POST":
        return NotATurn(f"{request.method.upper()[:20]} asks nothing of a model")
    last = path_of(exchange).rpartition("/")[2]
    if last in _NO_TURN:
        return NotATurn(f"{last} asks for no reply of a model")
    body = body_json(request)
    if not isinstance(body, dict):
        return NotATurn("the request body is not a JSON object")
    body = {**fields_of_path(exchange), **body}
    dialect = next((known for known in all_dialects() if known.matches(exchange, body)), None)
    return NotATurn("no known dialect") if dialect is None else (dialect, body)


def read_turn(exchange: Exchange) -> Turn | NotATurn:
    """The turn in an HTTP exchange, whatever bytes it holds."""
    known = recognized(exchange)
    if isinstance(known, NotATurn):
        return known
    dialect, body = known
    reply = read_response(dialect, exchange)
    return Turn(exchange, dialect.name, dialect.read_prompt(body), reply)


def read_turns(exchange: Exchange) -> tuple[Turn, ...] | NotATurn:
    """The turns in an exchange: one, or those that a websocket holds."""
    if exchange.websocket is None:
        read = read_turn(exchange)
        return read if isinstance(read, NotATurn) else (read,)
    return read_websocket(exchange) or WEBSOCKET


def read_response(dialect: Dialect, exchange: Exchange) -> Reply | None:
    """The reply of an exchange in a dialect; None if no response came.

    Bytes decide whether it is a stream, not what was asked for or what the header claims.
    """
    response = exchange.response
    if response is None:
        return None
    body = decoded(response.headers, response.body, response.chunks)
    frames = _frames(dialect.framing, response, body.data)
    if frames is None:
        reply = _plain_reply(dialect, exchange, body.data)
    else:
        reply = dialect.read_stream(*frames(body.data, body.chunks, exchange.timed))
    if response.status >= 400 and reply.error is None:
        return replace(reply, error=refusal_text(body.data) or f"status {response.status}")
    return reply


def _frames(framing: Framing, response: Response, data: bytes) -> _Decoder | None:
    """How the stream is cut into events; None if the body is no stream."""
    if looks_like_sse(data):
        return decode
    kind = (header(response.headers, "content-type") or "").lower()
    start = data.lstrip()
    if "event-stream" in kind and not start.startswith((b"{", b"[", b"<")):
        return decode
    if framing == "array" and start.startswith(b"["):
        return decode_array
    if framing == "lines" and start.startswith(b"{") and ("ndjson" in kind or _is_lines(data)):
        return decode_lines
    return None


def _is_lines(data: bytes) -> bool:
    """Whether a body is several lines, and not one JSON value spread over them."""
    if b"\n" not in data.strip():
        return False
    try:
        parse_json(data)
    except ValueError:
        return True
    return False


def _plain_reply(dialect: Dialect, exchange: Exchange, data: bytes) -> Reply:
    if not data.strip():
        return Reply()
    try:
        body = parse_json(data)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return dialect.read_reply(body)
    if exchange.end != "complete" or (exchange.response and exchange.response.status >= 400):
        return Reply()
    quote = data[: 4 * QUOTE].decode("utf-8", "replace")[:QUOTE]
    return Reply(error=f"the body is not a JSON object: {quote}")
