"""The recorder: a mitmproxy addon that notes every byte and its time, and edits none.

Rules it keeps (mitmproxy punishes breaking them):

- Every response is streamed through a tap. Without one mitmproxy holds a stream back to its end,
  and a reply that breaks off leaves no body behind.
- The tap never raises (the chunk would vanish, or the client hang) and hands the data on as it is;
  the empty call at the end is answered by no chunk at all.
- State is kept here by flow id, never in the flow. An exchange ends in `response` or in `error`.
- Nothing is written in a hook.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from proxyaudit.capture.queue import Sink, SinkThread
from proxyaudit.core.exchange import (
    Chunk,
    End,
    Exchange,
    Headers,
    Request,
    Response,
    Tap,
    WebSocketMessage,
)
from proxyaudit.store.endings import end_of_error

if TYPE_CHECKING:
    from mitmproxy import http

log = logging.getLogger("proxyaudit.recorder")


@dataclass(slots=True)
class _Live:
    """An exchange while it goes on. Times are seconds; `zero` is on the monotonic clock."""

    id: str
    tap: Tap
    started_at: float
    zero: float
    url: str
    connection: str
    request: Request | None = None
    status: int | None = None
    http_version: str = "HTTP/1.1"
    headers: Headers = ()
    chunks: list[Chunk] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    messages: list[WebSocketMessage] = field(default_factory=list)
    websocket: bool = False

    def now(self) -> float:
        return round(time.monotonic() - self.zero, 6)


class Recorder:
    """Records flows into a sink.

    `taps` maps listening ports to taps; a port that is not in it is not recorded, and without the
    mapping everything is recorded at the client tap. With `keep_bodies` the body is put back into
    the flow when the response is complete, for viewers such as mitmweb.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        taps: Mapping[int, Tap] | None = None,
        keep_bodies: bool = False,
        on_begin: Callable[[Exchange], None] | None = None,
        on_end: Callable[[Exchange], None] | None = None,
        on_trouble: Callable[[Exception], None] | None = None,
    ) -> None:
        self._taps = taps
        self._keep_bodies = keep_bodies
        self._begin = on_begin
        self._live: dict[str, _Live] = {}
        self._run = uuid.uuid4().hex[:6]
        self._count = 0
        self._stopping = False
        self.thread = SinkThread(sink, on_trouble=on_trouble, on_written=on_end)

    @property
    def open(self) -> int:
        """How many exchanges are going on."""
        return len(self._live)

    # Hooks. Each is wrapped: whatever goes wrong in here is the recorder's trouble alone.

    def requestheaders(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_requestheaders, flow)

    def request(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_request, flow)

    def responseheaders(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_responseheaders, flow)

    def response(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_response, flow)

    def error(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_error, flow)

    def websocket_message(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_websocket_message, flow)

    def websocket_end(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_websocket_end, flow)

    def stopping(self) -> None:
        """From now on a connection that closes was closed by us, not by the client."""
        self._stopping = True

    def done(self) -> None:
        """The proxy has stopped."""
        self.close()

    def close(self) -> None:
        """End what is still open as `recorder_stopped`, and write what is queued."""
        for id_ in list(self._live):
            self._finish(id_, "recorder_stopped", None)
        self.thread.close()

    def _safely(self, hook: Callable[["http.HTTPFlow"], None], flow: "http.HTTPFlow") -> None:
        try:
            hook(flow)
        except Exception:
            log.exception("the recorder lost an event; the traffic itself was not touched")

    def _on_requestheaders(self, flow: "http.HTTPFlow") -> None:
        tap = self._tap(flow)
        if tap is None or flow.is_replay:
            return
        self._count += 1
        started = flow.request.timestamp_start or time.time()
        self._live[flow.id] = _Live(
            id=f"{self._run}-{self._count}",
            tap=tap,
            started_at=started,
            zero=time.monotonic() - max(0.0, time.time() - started),
            url=_asked_url(flow),
            connection=flow.client_conn.id,
        )

    def _tap(self, flow: "http.HTTPFlow") -> Tap | None:
        if self._taps is None:
            return "client"
        return self._taps.get(flow.client_conn.sockname[1])

    def _on_request(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None:
            return
        live.request = _request(flow, live)
        self.thread.put("request", partial(_exchange, live.id, live, None, None, "complete", None))
        if self._begin:
            self._begin(_exchange(live.id, live, None, None, "complete", None))

    def _on_responseheaders(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.response is None:
            return
        live.status = flow.response.status_code
        live.http_version = flow.response.http_version
        live.headers = _headers(flow.response.headers.fields)
        # A 101 has no body: the websocket's messages come through hooks of their own.
        if live.status != 101 and not flow.response.stream:
            flow.response.stream = partial(_tap, live)

    def _on_response(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.response is None:
            return
        if flow.websocket is not None or live.status == 101:
            live.websocket = True
            return
        if live.status is None:
            self._on_responseheaders(flow)
        kept = flow.response.raw_content
        if kept and not live.pieces:
            live.pieces.append(kept)
            live.chunks.append(Chunk(live.now(), len(kept)))
        if self._keep_bodies and not kept:
            flow.response.raw_content = b"".join(live.pieces)
        self._finish(flow.id, "complete", None)

    def _on_error(self, flow: "http.HTTPFlow") -> None:
        message = flow.error.msg if flow.error else "unknown error"
        end = end_of_error(message)
        if self._stopping and end == "client_abort":
            end = "recorder_stopped"
        live = self._live.get(flow.id)
        if live is not None and live.request is None:
            live.request = _request(flow, live)
        self._finish(flow.id, end, message)

    def _on_websocket_message(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        data = message.text if message.is_text else message.content
        sender = "client" if message.from_client else "server"
        live.messages.append(WebSocketMessage(live.now(), sender, data))  # type: ignore[arg-type]

    def _on_websocket_end(self, flow: "http.HTTPFlow") -> None:
        socket = flow.websocket
        clean = socket is None or socket.close_code in (None, 1000, 1001, 1005)
        end: End = "complete" if clean else "client_abort" if _by_client(flow) else "upstream_eof"
        self._finish(flow.id, end, None if clean else f"close code {socket.close_code}")  # type: ignore[union-attr]

    def _finish(self, flow_id: str, end: End, error: str | None) -> None:
        live = self._live.pop(flow_id, None)
        if live is None:
            return
        build = partial(_exchange, live.id, live, live.status, live.now(), end, error)
        self.thread.put("response", build)


def _tap(live: _Live, data: bytes) -> bytes | Iterable[bytes]:
    """Note a chunk and hand it on untouched. Never raises."""
    if not data:
        return ()
    try:
        live.chunks.append(Chunk(live.now(), len(data)))
        live.pieces.append(data)
    except Exception:
        log.exception("the recorder lost a chunk; the client did not")
    return data


def _exchange(
    id_: str,
    live: _Live,
    status: int | None,
    ended_at: float | None,
    end: End,
    error: str | None,
) -> Exchange:
    response = None
    if status is not None:
        response = Response(
            status,
            live.headers,
            b"".join(live.pieces),
            live.http_version,
            tuple(live.chunks),
            ended_at,
        )
    return Exchange(
        id_,
        live.tap,
        live.started_at,
        live.request or Request("GET", live.url),
        response,
        end,
        error,
        live.connection,
        tuple(live.messages) if live.websocket else None,
    )


def _request(flow: "http.HTTPFlow", live: _Live) -> Request:
    body = flow.request.raw_content or b""
    ended = flow.request.timestamp_end or time.time()
    chunks = (Chunk(round(max(0.0, ended - live.started_at), 6), len(body)),) if body else ()
    return Request(
        flow.request.method,
        live.url,
        _headers(flow.request.headers.fields),
        body,
        flow.request.http_version,
        chunks,
    )


def _headers(fields: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers as text; bytes that are not UTF-8 survive as surrogates."""
    return tuple(
        (n.decode("utf-8", "surrogateescape"), v.decode("utf-8", "surrogateescape"))
        for n, v in fields
    )


def _asked_url(flow: "http.HTTPFlow") -> str:
    """The URL that the client asked for: our own address, not the upstream's.

    In reverse mode mitmproxy has put the upstream's address into the request by now.
    """
    if flow.client_conn.proxy_mode.type_name != "reverse":
        return flow.request.url
    host, port = flow.client_conn.sockname[:2]
    scheme = "https" if flow.client_conn.tls_established else "http"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}{flow.request.path}"


def _by_client(flow: "http.HTTPFlow") -> bool:
    return bool(flow.websocket and flow.websocket.closed_by_client)
