"""An exchange while it goes on: what the recorder has noted of it so far."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from mitmproxy import http


@dataclass(slots=True)
class Live:
    """Times are in seconds since the beginning; `zero` is the beginning on the monotonic clock.

    `queued` says whether the line of the request is on its way to the sink; `ours` is the callable
    that was put into the flow to see its body.
    """

    id: str
    tap: Tap
    started_at: float
    zero: float
    connection: str
    request: Request
    queued: bool = False
    ours: object = None
    response: Response | None = None
    chunks: list[Chunk] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    messages: list[WebSocketMessage] = field(default_factory=list)
    websocket: bool = False

    @classmethod
    def begun(cls, id_: str, tap: Tap, flow: "http.HTTPFlow") -> "Live":
        """At the request's headers: they are noted before anything downstream edits them."""
        started = flow.request.timestamp_start or time.time()
        return cls(
            id_,
            tap,
            started,
            time.monotonic() - max(0.0, time.time() - started),
            flow.client_conn.id,
            Request(
                flow.request.method,
                _asked_url(flow),
                headers_of(flow.request.headers.fields),
                http_version=flow.request.http_version,
            ),
        )

    def now(self) -> float:
        return round(time.monotonic() - self.zero, 6)

    def asked(self, flow: "http.HTTPFlow") -> None:
        """The request is complete."""
        body = flow.request.raw_content or b""
        ended = flow.request.timestamp_end or time.time()
        at = round(max(0.0, ended - self.started_at), 6)
        self.request = replace(
            self.request, body=body, chunks=(Chunk(at, len(body)),) if body else ()
        )

    def answered(self, response: "http.Response") -> None:
        """The response's headers have come."""
        self.response = Response(
            response.status_code,
            headers_of(response.headers.fields),
            http_version=response.http_version,
        )

    def piece(self, data: bytes) -> None:
        """A piece of the response's body."""
        self.chunks.append(Chunk(self.now(), len(data)))
        self.pieces.append(data)

    def body(self) -> bytes:
        return b"".join(self.pieces)

    def opening(self) -> Exchange:
        """The exchange without its response."""
        return self._exchange(None, "complete", None)

    def ended(self, at: float, end: End, error: str | None) -> Exchange:
        """The whole exchange; nothing may be noted any more."""
        response = self.response and replace(
            self.response, body=self.body(), chunks=tuple(self.chunks), ended_at=at
        )
        return self._exchange(response, end, error)

    def _exchange(self, response: Response | None, end: End, error: str | None) -> Exchange:
        return Exchange(
            self.id,
            self.tap,
            self.started_at,
            self.request,
            response,
            end,
            error,
            self.connection,
            tuple(self.messages) if self.websocket else None,
        )


def headers_of(fields: Iterable[tuple[bytes, bytes]]) -> Headers:
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


def was_reset(flow: "http.HTTPFlow") -> bool:
    """Whether the upstream tore its connection down (RST) and did not just close it (FIN).

    mitmproxy says the same about both; the stream that it reads from knows.
    """
    from mitmproxy import ctx

    server = ctx.master.addons.get("proxyserver")
    for handler in server.connections.values() if server else ():
        if handler.client is flow.client_conn:
            sockets = handler.transports.get(flow.server_conn)
            lost = getattr(sockets and sockets.reader, "exception", None)
            return callable(lost) and isinstance(lost(), ConnectionResetError)
    return False
