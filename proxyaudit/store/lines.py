"""Exchange to JSON line and back (`docs/recording-format.md`).

Bodies are byte-exact: a string where they are valid UTF-8, base64 where not. JSON has no spelling
for other bytes, so a URL or headers with such bytes are written twice: readable, with U+FFFD in the
place of what cannot be shown, and exact in `url_base64` or `headers_base64`.
"""

import base64
import re
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import to_json

from proxyaudit.core.exchange import End, Exchange, Request, Response, WebSocketMessage
from proxyaudit.core.recording import Assume
from proxyaudit.store.schema import EXCHANGE, RECORDING, ExchangeLine, FormatLine, OpeningLine

type _Fields = dict[str, object]

_STARTS = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + re.escape(EXCHANGE.encode()) + b'"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_A_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@dataclass(frozen=True, slots=True)
class Opening:
    """A first line: facts for the whole recording."""

    assume: Assume


@dataclass(frozen=True, slots=True)
class Whole:
    """One whole exchange in one line."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Begun:
    """A request whose response has not ended yet; until then it counts as `recorder_stopped`."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of the request with this id."""

    id: str
    response: Response | None
    end: End
    error: str | None
    websocket: tuple[WebSocketMessage, ...] | None
    timed: bool


type Line = Opening | Whole | Begun | Ended


class WrongFormat(ValueError):
    """A line of another version, or not of this format at all."""


def to_line(exchange: Exchange) -> bytes:
    """A whole exchange as one line, newline included."""
    return _dump({"format": EXCHANGE, **_start(exchange), **_outcome(exchange)})


def request_line(exchange: Exchange) -> bytes:
    """The line that is written when the request is complete; a response is left out."""
    return _dump({"format": EXCHANGE, "phase": "request", **_start(exchange)})


def response_line(exchange: Exchange) -> bytes:
    """The line that is written when the exchange has ended: only what the first one lacks."""
    name = _readable(exchange.id)
    return _dump({"format": EXCHANGE, "phase": "response", "id": name, **_outcome(exchange)})


def opening_line(assume: Assume) -> bytes:
    """The first line of a plain file."""
    return _dump({"format": RECORDING, "assume": assume.model_dump(exclude_none=True)})


def from_line(raw: bytes) -> Line:
    """A line as a value; raises ValueError with one plain sentence if it is not one.

    WrongFormat (a ValueError) says that the line is whole but of another format or version.
    """
    try:
        # Reading the format first parses a line twice; most lines name it at their very start.
        name = EXCHANGE if _STARTS.match(raw) else FormatLine.model_validate_json(raw).format
        if name == RECORDING:
            return Opening(OpeningLine.model_validate_json(raw).assume)
        if name not in ("", EXCHANGE):
            raise WrongFormat(f"format {name!r}: only {EXCHANGE} and {RECORDING} are known")
        return _value(ExchangeLine.model_validate_json(raw))
    except ValidationError as error:
        raise ValueError(_sentence(error)) from None


def _value(line: ExchangeLine) -> Line:
    if line.phase == "response":
        response, end, timed = _result(line)
        return Ended(line.id, response, end, line.error, _messages(line), timed)
    if line.request is None or line.started_at is None:
        raise ValueError("request: missing" if line.request is None else "started_at: missing")
    response, end, timed = _result(line)
    exchange = Exchange(
        id=line.id,
        tap=line.tap,
        started_at=line.started_at,
        request=line.request.value(),
        response=response,
        end=end,
        error=line.error,
        connection=line.connection,
        websocket=_messages(line),
        timed=timed,
    )
    return Whole(exchange) if line.phase is None else Begun(exchange)


def _result(line: ExchangeLine) -> tuple[Response | None, End, bool]:
    response = line.response.value() if line.response else None
    end = line.end or ("complete" if response else "recorder_stopped")
    timed = _has_times(response) if line.timed is None else line.timed
    return response, end, timed


def _messages(line: ExchangeLine) -> tuple[WebSocketMessage, ...] | None:
    return None if line.websocket is None else tuple(part.value() for part in line.websocket)


def _has_times(response: Response | None) -> bool:
    """What `timed` is where a line does not say: whoever saw a body's chunks has listed them."""
    return response is None or not response.body or bool(response.chunks)


def _start(exchange: Exchange) -> _Fields:
    request = exchange.request
    url = _readable(request.url)
    exact: _Fields = {} if url == request.url else {"url_base64": _to_base64(request.url)}
    return {
        "id": _readable(exchange.id),
        "tap": exchange.tap,
        "started_at": exchange.started_at,
        "connection": None if exchange.connection is None else _readable(exchange.connection),
        "request": {"method": _readable(request.method), "url": url, **exact, **_message(request)},
    }


def _outcome(exchange: Exchange) -> _Fields:
    answer, messages = exchange.response, exchange.websocket
    response: _Fields | None = None
    if answer:
        response = {"status": answer.status, **_message(answer), "ended_at": answer.ended_at}
    unusual = exchange.timed != _has_times(answer)
    return {
        "response": response,
        "end": exchange.end,
        "error": None if exchange.error is None else _readable(exchange.error),
        "websocket": None if messages is None else [_websocket(m) for m in messages],
        **({"timed": exchange.timed} if unusual else {}),
    }


def _message(message: Request | Response) -> _Fields:
    headers = tuple((_readable(n), _readable(v)) for n, v in message.headers)
    exact: _Fields = {}
    if headers != message.headers:
        exact["headers_base64"] = [(_to_base64(n), _to_base64(v)) for n, v in message.headers]
    return {
        "http_version": _readable(message.http_version),
        "headers": headers,
        **exact,
        **_body(message.body),
        "chunks": message.chunks,
    }


def _websocket(message: WebSocketMessage) -> _Fields:
    fields: _Fields = {"at": message.at, "from": message.sender}
    if isinstance(message.data, str):
        return {**fields, "text": _readable(message.data)}
    return {**fields, "base64": base64.b64encode(message.data).decode()}


def _body(body: bytes) -> _Fields:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def _readable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _to_base64(text: str) -> str:
    raw = _NOT_A_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape")
    return base64.b64encode(raw).decode()


def _dump(fields: _Fields) -> bytes:
    return to_json(fields) + b"\n"


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
