"""A recorder between a raw client and a scripted server, all on real sockets of loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Answer, Server, serving

from proxyaudit.capture.host import Host, Route
from proxyaudit.capture.queue import Sink
from proxyaudit.capture.recorder import Recorder
from proxyaudit.core.exchange import Exchange

SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST = b"0\r\n\r\n"


@dataclass
class Kept:
    """A sink that keeps the lines in memory."""

    requests: list[Exchange] = field(default_factory=list)
    responses: list[Exchange] = field(default_factory=list)

    def request(self, exchange: Exchange) -> None:
        self.requests.append(exchange)

    def response(self, exchange: Exchange) -> None:
        self.responses.append(exchange)

    @property
    def only(self) -> Exchange:
        """The one exchange; both of its lines were written, in order and under one id."""
        (begun,), (ended,) = self.requests, self.responses
        assert begun.id == ended.id
        assert begun.request == ended.request
        assert begun.response is None
        return ended


@dataclass
class Tapped:
    """The server, and the port of the tap before it."""

    server: Server
    port: int
    recorder: Recorder


@asynccontextmanager
async def tapped(*answers: Answer, sink: Sink, **options: Any) -> AsyncIterator[Tapped]:
    """A server that gives these answers, and a recording tap before it; all is written at the end."""
    async with serving(*answers) as server, tap(server.url, sink, **options) as (port, recorder):
        yield Tapped(server, port, recorder)


@asynccontextmanager
async def tap(upstream: str, sink: Sink, **options: Any) -> AsyncIterator[tuple[int, Recorder]]:
    """A recording tap before an upstream; `before` and `after` are more addons."""
    before, after = options.pop("before", ()), options.pop("after", ())
    recorder = Recorder(sink, **options)
    try:
        async with Host([Route(upstream)], [*before, recorder, *after]) as host:
            yield host.ports[0], recorder
    finally:
        recorder.close()


class Client:
    """A client that sees what is on the wire."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def chunk(self) -> bytes:
        """The next chunk of a chunked body; empty at its end."""
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def chunks(self) -> list[bytes]:
        got = []
        while piece := await self.chunk():
            got.append(piece)
        return got

    async def answer(self) -> tuple[bytes, bytes]:
        """Head and body of an answer with a Content-Length."""
        head = await self.head()
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        return head, await self.reader.readexactly(int(fields.get(b"content-length", b"0")))

    async def rest(self) -> bytes:
        """All until the end of the connection, however it ends."""
        got = b""
        try:
            while data := await self.reader.read(65536):
                got += data
        except ConnectionResetError:
            pass
        return got


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    """A client's connection to a port."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


def post(body: bytes = b"{}", *headers: bytes, path: bytes = b"/v1/chat/completions") -> bytes:
    """A request as bytes."""
    lines = (b"POST %s HTTP/1.1" % path, b"Host: tap.example", b"Content-Length: %d" % len(body))
    return b"\r\n".join((*lines, *headers)) + b"\r\n\r\n" + body


def chunked(data: bytes) -> bytes:
    """A chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


async def eventually(condition: Any) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
