"""Import of the JSON Lines of claude-trace and claude-tap.

Both keep bodies as JSON values, so their bytes are written anew: what they say is evidence, how it
was spelt is not.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from proxyaudit.core.exchange import End, Exchange, Request, Response, Tap, WebSocketMessage
from proxyaudit.core.recording import Flaw
from proxyaudit.store.bundle import records_of
from proxyaudit.store.har import counted, unpacked
from proxyaudit.store.loose import (
    as_stored,
    header_pairs,
    items,
    moment,
    number,
    parsed,
    status_of,
    table,
    text,
    to_bytes,
    written,
)
from proxyaudit.store.scan import split_lines

type TraceShape = Literal["claude-trace", "claude-tap", "claude-tap bundle"]

REWRITTEN = "{} with bodies stored as JSON values: their spelling is not evidence"
JOINED = "{} with a stream stored as one reply: what went on in the stream is not known"
SENTINEL = "{} with a stream stored without its [DONE]: it is assumed to have come"
NO_BODY = "{} without the body of the reply: nothing follows from its absence"
NO_TIME = "{} without a time: placed after the one before"
_NO_REPLY_BODY = "the trace holds no body of this reply"


def iter_traces(
    path: Path, shape: TraceShape, flaws: list[Flaw], tap: Tap = "client"
) -> Iterator[Exchange]:
    """The exchanges of a trace, line by line; what cannot be read is added to `flaws`.

    What is odd in many lines is told once, with its number. There are no chunk times.
    """
    reader, faults = _Traces(tap), list[str]()
    read = reader.claude_trace if shape == "claude-trace" else reader.claude_tap
    with path.open("rb") as file:
        for place, record in _records(unpacked(file, faults), shape, path.name, flaws):
            try:
                yield read(table(record), place)
            except ValueError as error:
                flaws.append(Flaw(f"{path.name}:{place}", f"not read: {error}"))
    flaws += [Flaw(path.name, fault) for fault in faults]
    flaws += counted(path.name, reader.notes, ("exchange", "exchanges"))


def _records(
    pieces: Iterator[bytes], shape: TraceShape, name: str, flaws: list[Flaw]
) -> Iterator[tuple[int, Any]]:
    if shape == "claude-tap bundle":
        yield from records_of(b"".join(pieces), name, flaws)
        return
    for place, (raw, whole) in enumerate(split_lines(pieces), 1):
        try:
            if raw.strip():
                yield place, parsed(raw)
        except ValueError as error:
            how = "not JSON" if whole else "torn at its end"
            flaws.append(Flaw(f"{name}:{place}", f"{how} ({error})"))


@dataclass(slots=True)
class _Traces:
    tap: Tap
    notes: Counter[str] = field(default_factory=Counter)
    _last: float = 0.0

    def claude_trace(self, record: dict[str, Any], place: int) -> Exchange:
        """{"request": {timestamp, method, url, headers, body}, "response": {timestamp,
        status_code, headers, body or body_raw} or null, "logged_at"}; times in seconds."""
        asked, told = table(record.get("request")), record.get("response")
        url = text(asked.get("url"))
        if not url:
            raise ValueError("no request with a URL")
        started = self._start(moment(asked.get("timestamp")))
        response: Response | None = None
        end: End = "recorder_stopped"
        error: str | None = None
        if isinstance(told, dict) and told:
            logged = moment(record.get("logged_at"))
            ended = logged if logged is not None else moment(told.get("timestamp"))
            body = told.get("body_raw") if "body_raw" in told else told.get("body")
            status = told.get("status_code")
            response, end, error = self._response(status, told, body, _since(started, ended))
        self.notes[REWRITTEN] += 1
        request = self._request(asked, url)
        return self._exchange(f"e{place}", started, request, response, end, error)

    def claude_tap(self, record: dict[str, Any], place: int) -> Exchange:
        """{"timestamp" (of the end), "request_id", "duration_ms", "request": {method, path,
        headers, body}, "response": {status, headers, body, sse_events?}, "upstream_base_url"?}"""
        asked, told = table(record.get("request")), table(record.get("response"))
        path = text(asked.get("path"))
        if not path:
            raise ValueError("no request with a path")
        spent = (number(record.get("duration_ms")) or 0.0) / 1000
        ended = moment(record.get("timestamp"))
        started = self._start(None if ended is None else ended - spent)
        body = self._replied(told, bool(table(asked.get("body")).get("stream")))
        response, end, error = self._response(told.get("status"), told, body, spent)
        self.notes[REWRITTEN] += 1
        request = self._request(asked, _joined(text(record.get("upstream_base_url")), path))
        messages = _messages(asked, told, spent) if _is_websocket(record, asked) else None
        id_ = text(record.get("request_id")) or f"e{place}"
        if messages is not None and response is not None:
            end, error = "complete", None
        return self._exchange(id_, started, request, response, end, error, messages)

    def _start(self, at: float | None) -> float:
        if at is None:
            self.notes[NO_TIME] += 1
            return self._last
        self._last = at
        return at

    def _replied(self, told: dict[str, Any], streamed: bool) -> Any:
        events = [table(event) for event in items(told.get("sse_events"))]
        if events:
            return self._stream(events)
        if streamed and isinstance(told.get("body"), dict):
            self.notes[JOINED] += 1
        return told.get("body")

    def _stream(self, events: list[dict[str, Any]]) -> str:
        """Events as the stream they were read from. Those of chat completions have no name."""
        out: list[str] = []
        for event in events:
            name, data = text(event.get("event")), event.get("data")
            out += [f"event: {name}\n"] if name not in ("", "message") else []
            out.append(f"data: {data if isinstance(data, str) else _text_of(data)}\n\n")
        if any("choices" in table(event.get("data")) for event in events):
            out.append("data: [DONE]\n\n")
            self.notes[SENTINEL] += 1
        return "".join(out)

    def _request(self, asked: dict[str, Any], url: str) -> Request:
        body = _body(asked.get("body"))
        headers, _ = as_stored(header_pairs(asked.get("headers")), body, is_text=True)
        # The line of a websocket has no method of its own; it begins as a GET.
        method = text(asked.get("method"), "POST")
        return Request("GET" if method == "WEBSOCKET" else method, url, headers, body)

    def _response(
        self, status: Any, told: dict[str, Any], stored: Any, ended: float | None
    ) -> tuple[Response | None, End, str | None]:
        code = status_of(status)
        if code is None:
            return None, "recorder_stopped", None
        body = _body(stored)
        headers, _ = as_stored(header_pairs(told.get("headers")), body, is_text=True)
        response = Response(code, headers, body, ended_at=ended)
        if body or code in (204, 205, 304):
            return response, "complete", None
        self.notes[NO_BODY] += 1
        return response, "recorder_stopped", _NO_REPLY_BODY

    def _exchange(
        self,
        id_: str,
        started: float,
        request: Request,
        response: Response | None,
        end: End,
        error: str | None,
        messages: tuple[WebSocketMessage, ...] | None = None,
    ) -> Exchange:
        return Exchange(
            id_,
            self.tap,
            started,
            request,
            response,
            end,
            error,
            websocket=messages,
            timed=False,
        )


def _since(started: float, ended: float | None) -> float | None:
    return None if ended is None else max(0.0, ended - started)


def _body(value: Any) -> bytes:
    """A body as bytes: text as it is, any other value as compact JSON; null is no body."""
    if value is None:
        return b""
    return to_bytes(value) if isinstance(value, str) else written(value)


def _text_of(value: Any) -> str:
    return written(value).decode("utf-8", "surrogateescape")


def _joined(base: str, path: str) -> str:
    if not base:
        return urljoin("http://unknown/", path) if path.startswith("/") else path
    return f"{base.rstrip('/')}/{path.lstrip('/')}"


def _is_websocket(record: dict[str, Any], asked: dict[str, Any]) -> bool:
    return record.get("transport") == "websocket" or asked.get("method") == "WEBSOCKET"


def _messages(
    asked: dict[str, Any], told: dict[str, Any], spent: float
) -> tuple[WebSocketMessage, ...]:
    """What both sides said: the client at the start, the server at the end, for times are lost."""
    asking = [_message(event) for event in items(asked.get("ws_events"))]
    telling = [_message(event) for event in items(told.get("ws_events"))]
    client = [WebSocketMessage(0.0, "client", data) for data in asking]
    return (*client, *(WebSocketMessage(spent, "server", data) for data in telling))


def _message(event: Any) -> str:
    raw = table(event).get("raw")
    return raw if isinstance(raw, str) and len(event) == 1 else _text_of(event)
