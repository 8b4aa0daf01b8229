"""One entry of a HAR file as an exchange (HAR 1.2, and what browsers and proxies add to it)."""

import base64
import binascii
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from proxyaudit.core.exchange import (
    End,
    Exchange,
    Headers,
    Request,
    Response,
    Tap,
    WebSocketMessage,
    header,
)
from proxyaudit.store.endings import end_of_error
from proxyaudit.store.loose import (
    as_stored,
    header_pairs,
    items,
    moment,
    number,
    status_of,
    table,
    text,
    to_bytes,
)

DECODED = "{} with a body stored decoded: content-encoding and content-length were left out"
NO_TIME = "{} without a start time: placed after the one before"
NO_REQUEST_BODY = "{} without the body of the request"
NO_BODY = "{} without the body of the reply: nothing follows from its absence"
CUT_BODY = "{} with only a part of the body of the reply"
BAD_BASE64 = "{} with a body that should be base64 and is not: taken as text"
EVENTS = "{} with a stream put together from its events: their spelling is not evidence"
_NO_REPLY_BODY = "the file holds no body of this reply"
_VERSIONS = {"h2": "HTTP/2.0", "http/2.0": "HTTP/2.0", "http/2": "HTTP/2.0", "h3": "HTTP/3"}
_BODILESS = frozenset({204, 205, 304})
# A size may count a byte order mark that the text has lost.
_SLACK = 3


@dataclass(slots=True)
class Entries:
    """Reads the entries of one file. `notes` count what is odd in them, by sentence."""

    tap: Tap = "client"
    notes: Counter[str] = field(default_factory=Counter)
    _last: float = 0.0

    def exchange(self, entry: Any, id_: str) -> Exchange:
        """An entry as an exchange; ValueError with a plain sentence if it cannot be one."""
        asked, told = table(table(entry).get("request")), table(table(entry).get("response"))
        if not text(asked.get("url")) or not text(asked.get("method")):
            raise ValueError("no request with a method and a URL")
        started = self._start(entry.get("startedDateTime"))
        spent = number(entry.get("time"))
        request = self._request(asked)
        messages = _messages(entry.get("_webSocketMessages"), started)
        response, end, error = self._response(entry, told, request.method, messages is not None)
        if response and spent is not None and spent >= 0:
            response = _ended(response, spent / 1000)
        return Exchange(
            id=id_,
            tap=self.tap,
            started_at=started,
            request=request,
            response=response,
            end=end,
            error=error,
            connection=text(entry.get("connection")) or None,
            websocket=messages,
            timed=False,
        )

    def _start(self, value: Any) -> float:
        at = moment(value)
        if at is None:
            self.notes[NO_TIME] += 1
            return self._last
        self._last = at
        return at

    def _request(self, asked: dict[str, Any]) -> Request:
        posted = table(asked.get("postData"))
        body, is_text = self._body(posted)
        if not body and posted.get("params"):
            body = _form(posted["params"])
        if not body and (number(asked.get("bodySize")) or 0) > 0:
            self.notes[NO_REQUEST_BODY] += 1
        return Request(
            text(asked["method"]),
            text(asked["url"]),
            self._headers(asked, body, is_text),
            body,
            _version(asked.get("httpVersion")),
        )

    def _response(
        self, entry: dict[str, Any], told: dict[str, Any], method: str, is_websocket: bool
    ) -> tuple[Response | None, End, str | None]:
        problem = text(told.get("_error")) or text(entry.get("_error"))
        status = status_of(told.get("status"))
        if status is None:
            return None, _end(problem), problem or None
        content = table(told.get("content"))
        body, is_text = self._body(content)
        events = items(entry.get("_eventSourceMessages"))
        if not body and events:
            body = _events(events)
            self.notes[EVENTS] += 1
        version = _version(told.get("httpVersion"))
        response = Response(status, self._headers(told, body, is_text), body, version)
        if problem:
            return response, _end(problem), problem
        lost = None if is_websocket else self._lost(content, response, method, bool(events))
        # Nothing may be concluded from bytes that were not kept.
        return response, "recorder_stopped" if lost else "complete", lost

    def _lost(
        self, content: dict[str, Any], response: Response, method: str, rebuilt: bool
    ) -> str | None:
        size, body = number(content.get("size")) or 0, response.body
        if not body:
            if not _should_have_body(content, response, method):
                return None
            self.notes[NO_BODY] += 1
            return _NO_REPLY_BODY
        shrunk = (number(content.get("compression")) or 0) < 0
        if rebuilt or shrunk or size <= len(body) + _SLACK:
            return None
        self.notes[CUT_BODY] += 1
        return f"the file holds {len(body)} of {int(size)} bytes of this reply"

    def _headers(self, message: dict[str, Any], body: bytes, is_text: bool) -> Headers:
        headers, changed = as_stored(header_pairs(message.get("headers")), body, is_text=is_text)
        if changed:
            self.notes[DECODED] += 1
        return headers

    def _body(self, stored: dict[str, Any]) -> tuple[bytes, bool]:
        """A body, and whether it was stored as text."""
        body = text(stored.get("text"))
        if text(stored.get("encoding")).lower() != "base64":
            return to_bytes(body), True
        try:
            return base64.b64decode(to_bytes(body), validate=False), False
        except binascii.Error:
            self.notes[BAD_BASE64] += 1
            return to_bytes(body), True


def _ended(response: Response, seconds: float) -> Response:
    return Response(
        response.status,
        response.headers,
        response.body,
        response.http_version,
        ended_at=seconds,
    )


def _should_have_body(content: dict[str, Any], response: Response, method: str) -> bool:
    """Whether an empty body is one that was not kept.

    Chrome keeps no event streams that a script read, and tells their size as 0.
    """
    if method.upper() == "HEAD" or response.status < 200 or response.status in _BODILESS:
        return False
    if (number(content.get("size")) or 0) > 0:
        return True
    length = header(response.headers, "content-length")
    return bool(text(content.get("mimeType"))) and (length or "").strip() != "0"


def _version(value: Any) -> str:
    word = text(value).strip().lower()
    if word in _VERSIONS:
        return _VERSIONS[word]
    return word.upper() if word.startswith("http/") else "HTTP/1.1"


def _end(problem: str) -> End:
    """The end that an error text stands for: of a proxy, or a name such as net::ERR_ABORTED."""
    if not problem:
        return "recorder_stopped"
    words = problem.replace("_", " ")
    return "client_abort" if words.lower().endswith("err aborted") else end_of_error(words)


def _form(params: Any) -> bytes:
    fields = [table(p) for p in items(params)]
    pairs = [(text(f.get("name")), text(f.get("value"))) for f in fields]
    return urlencode(pairs, errors="replace").encode()


def _events(events: list[Any]) -> bytes:
    lines: list[str] = []
    for event in map(table, events):
        name = text(event.get("eventName"))
        lines += [f"event: {name}"] if name not in ("", "message") else []
        lines += [f"data: {line}" for line in text(event.get("data")).split("\n")]
        lines.append("")
    return to_bytes("\n".join([*lines, ""]))


def _messages(value: Any, started: float) -> tuple[WebSocketMessage, ...] | None:
    if not isinstance(value, list):
        return None
    found = [_message(table(each), started) for each in value]
    return tuple(message for message in found if message)


def _message(told: dict[str, Any], started: float) -> WebSocketMessage | None:
    sender, data = text(told.get("type")), told.get("data")
    code = number(told.get("opcode"))
    if sender not in ("send", "receive") or not isinstance(data, str) or code not in (None, 1, 2):
        return None
    at = number(told.get("time"))
    since = 0.0 if at is None else max(0.0, at - started)
    return WebSocketMessage(since, "client" if sender == "send" else "server", _data(data, code))


def _data(data: str, code: float | None) -> str | bytes:
    if code != 2:
        return data
    try:
        return base64.b64decode(to_bytes(data))
    except binascii.Error:
        return data
