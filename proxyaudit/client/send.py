"""The one HTTP sender: a raw request goes out, an exchange with chunk times comes back.

It drives httpx's transport, the layer under `httpx.AsyncClient`. Cookies, redirects, default
headers, authentication, proxies from the environment and content decoding all live in the client
class, so none of them can happen here; retries are off.

Two things about the bytes on the wire. The HTTP library writes `Host` before all other headers,
wherever it stood. And a chunk is what one read brought of one HTTP chunk: the library never joins
two of them, but it cuts a chunk that is larger than a read (64 KiB), and so the number of chunks
can exceed, never undercut, the number that the server wrote and the network kept apart.
"""

import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import anyio.lowlevel
import httpx

from proxyaudit.client.headers import origin, outgoing_headers, request_target
from proxyaudit.core.exchange import Chunk, End, Exchange, Headers, Request, Response, Tap

type Client = httpx.AsyncHTTPTransport
type Clock = Callable[[], float]


class Timeouts(NamedTuple):
    """Seconds: to connect, and of silence while reading or writing (a long prefill is silent)."""

    connect: float = 10.0
    silence: float = 600.0


PATIENT = Timeouts()


@asynccontextmanager
async def open_client(*, connections: int = 64, keep_alive: float = 2.0) -> AsyncIterator[Client]:
    """A connection pool for `send`.

    `keep_alive` is the number of seconds for which an idle connection is used again. It is short
    because servers close idle ones (some after 5 s), and a request that meets the closing fails:
    that would look like a fault of the server, and retries are no way out.
    """
    limits = httpx.Limits(
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=keep_alive,
    )
    # The socket layer loads itself at its first use: some 80 ms that would count as the server's.
    await anyio.lowlevel.checkpoint()
    # Of the environment, a transport reads SSL_CERT_FILE and SSL_CERT_DIR and nothing else.
    async with httpx.AsyncHTTPTransport(limits=limits, http2=False, trust_env=True) as client:
        yield client


async def send(
    client: Client,
    request: Request,
    *,
    tap: Tap = "client",
    exchange_id: str | None = None,
    timeouts: Timeouts = PATIENT,
    clock: Clock = time.perf_counter,
    wall: Clock = time.time,
    on_request: Callable[[Exchange], None] | None = None,
) -> Exchange:
    """Send the request's bytes once and return what came back, whatever it was.

    The body goes out unchanged, the headers as `outgoing_headers` gives them, without `Expect`
    ever being waited for. A refused connection, a reset, a timeout, a cut or unreadable answer
    become the exchange's `end` and `error`; nothing is raised but cancellation and what
    `on_request` raises. That one gets the exchange without its response, once, when the request is
    out or has failed. `clock` gives seconds for the chunk times, `wall` seconds since the epoch.
    """
    ready = replace(request, headers=outgoing_headers(request), http_version="HTTP/1.1", chunks=())
    begun = Exchange(exchange_id or uuid.uuid4().hex, tap, wall(), ready)
    flight = _Flight(begun, clock, clock(), on_request)
    try:
        await flight.fly(client, timeouts)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        if flight.callers_error is not None:
            raise flight.callers_error from None
        return flight.landed(_end_of(error), _words_of(error))
    return flight.landed("complete", None)


@dataclass(slots=True)
class _Flight:
    """One exchange while it happens."""

    exchange: Exchange
    clock: Clock
    began: float
    on_request: Callable[[Exchange], None] | None
    announced: bool = False
    callers_error: Exception | None = None
    response: Response | None = None
    pieces: list[bytes] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)

    async def fly(self, client: Client, timeouts: Timeouts) -> None:
        answer = await client.handle_async_request(self._outgoing(timeouts))
        try:
            self._note_head(answer)
            assert isinstance(answer.stream, httpx.AsyncByteStream)
            async for piece in answer.stream:
                self.chunks.append(Chunk(self._now(), len(piece)))
                self.pieces.append(piece)
        finally:
            await answer.aclose()

    def landed(self, end: End, error: str | None) -> Exchange:
        if not self.announced:
            self._announce()
        response = self.response and replace(
            self.response,
            body=b"".join(self.pieces),
            chunks=tuple(self.chunks),
            ended_at=self._now(),
        )
        return replace(self.exchange, response=response, end=end, error=error)

    def _now(self) -> float:
        return self.clock() - self.began

    def _outgoing(self, timeouts: Timeouts) -> httpx.Request:
        request = self.exchange.request
        scheme, authority = origin(request.url)
        seconds = httpx.Timeout(timeouts.silence, connect=timeouts.connect)
        return httpx.Request(
            request.method,
            f"{scheme}://{authority}/",
            headers=[(_raw(name), _raw(value)) for name, value in request.headers],
            stream=_Body(self._body()),
            # The target as recorded: httpx would resolve dots and quote anew.
            extensions={"target": request_target(request.url), "timeout": seconds.as_dict()},
        )

    async def _body(self) -> AsyncIterator[bytes]:
        body = self.exchange.request.body
        if body:
            yield body
            sent = replace(self.exchange.request, chunks=(Chunk(self._now(), len(body)),))
            self.exchange = replace(self.exchange, request=sent)
        self._announce()

    def _announce(self) -> None:
        self.announced = True
        if self.on_request is None:
            return
        try:
            self.on_request(self.exchange)
        except Exception as error:
            # A full disk on this side must not come out as a fault of the server.
            self.callers_error = error
            raise

    def _note_head(self, answer: httpx.Response) -> None:
        version = answer.extensions.get("http_version", b"HTTP/1.1").decode("ascii", "replace")
        self.response = Response(
            status=answer.status_code, headers=_text(answer.headers), http_version=version
        )
        address = answer.extensions["network_stream"].get_extra_info("client_addr")
        if isinstance(address, tuple):
            self.exchange = replace(self.exchange, connection=":".join(map(str, address[:2])))


class _Body(httpx.AsyncByteStream):
    """A request body that tells when it has been handed over."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(headers: httpx.Headers) -> Headers:
    return tuple(
        (name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))
        for name, value in headers.raw
    )


def _end_of(error: Exception) -> End:
    match error:
        case httpx.TimeoutException():
            return "timeout"
        case httpx.ConnectError():
            return "upstream_refused"
        case httpx.NetworkError():
            return "upstream_reset"
        case httpx.RemoteProtocolError() if _closed_early(str(error)):
            return "upstream_eof"
        case _:
            return "error"


def _closed_early(words: str) -> bool:
    """Whether the peer closed in the middle; the library has no error class of its own for it."""
    return "closed connection" in words or "disconnected" in words


def _words_of(error: Exception) -> str:
    cause = error.__cause__ or error.__context__
    words = str(error) or (str(cause) or type(cause).__name__ if cause else "")
    if isinstance(error, httpx.LocalProtocolError):
        # It quotes the header value that it refuses, which can be a key.
        words = words.partition(" b'")[0].partition(' b"')[0]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
