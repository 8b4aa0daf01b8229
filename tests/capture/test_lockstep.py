"""A stream that goes on only when the client has read what came so far.

Whatever holds a chunk back, or waits for a second one to join it to, brings such a stream to a
stop. So this is about structure and needs no clock: the first byte reaches the client before the
second event exists, and every chunk is one read.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from loopback import Answer, serving

from proxyaudit.capture.host import Host, Route
from proxyaudit.capture.recorder import Recorder
from proxyaudit.core.exchange import Exchange
from proxyaudit.demo.http1 import ChunkedDecoder, chunk, request_head, response_head

BODY = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}'
EVENTS = [
    b": hello\n\n",
    b'data: {"n":1}\n\n',
    b"data: {",
    b'"n":2}\n\ndata: {"n":3}\n\n',
    b"data: " + b"x" * 20000 + b"\n\n",
    "data: é\n\n".encode()[:-3],
    "data: é\n\n".encode()[-3:],
    b"data: [DONE]\n\n",
]
HEAD = response_head(200, (("content-type", "text/event-stream"), ("transfer-encoding", "chunked")))


@dataclass
class Kept:
    """A sink in memory."""

    ended: list[Exchange] = field(default_factory=list)

    def request(self, exchange: Exchange) -> None:
        pass

    def response(self, exchange: Exchange) -> None:
        self.ended.append(exchange)


def in_lockstep(read: asyncio.Semaphore) -> Answer:
    """Write the head, then each event in a chunk of its own, each when the last one was read."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for event in [*EVENTS, b""]:
            writer.write(chunk(event))
            await writer.drain()
            await read.acquire()

    return answer


async def reads_of(url: str, read: asyncio.Semaphore) -> list[bytes]:
    """The body as it came: what each read brought, read to the end of the stream."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    headers = (("host", "x"), ("content-length", str(len(BODY))))
    writer.write(request_head("POST", "/v1/chat/completions", headers) + BODY)
    await reader.readuntil(b"\r\n\r\n")
    decoder, got = ChunkedDecoder(), [b""]
    while not decoder.done:
        piece = decoder.feed(await reader.read(1 << 20))
        got[-1] += piece
        # The kernel may cut a large chunk in two; what is counted is what was not yet complete.
        if len(got) > len(EVENTS) or got[-1] == EVENTS[len(got) - 1]:
            got.append(b"")
            read.release()
    writer.close()
    await writer.wait_closed()
    return [piece for piece in got if piece]


@asynccontextmanager
async def relay(port: int) -> AsyncIterator[str]:
    """A proxy that knows nothing of HTTP: bytes in, bytes out."""
    ends: list[asyncio.StreamWriter] = []

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        ends.extend((writer, back))
        await asyncio.gather(pour(reader, back), pour(there, writer))

    server = await asyncio.start_server(joined, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for end in ends:
            end.close()


@asynccontextmanager
async def both_taps(backend: str, sink: Kept) -> AsyncIterator[str]:
    """client tap → relay → upstream tap → backend; the URL is that of the client tap."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with relay(port) as between:
        host = Host([Route(between), Route(backend, listen_port=port)])
        first, second = host.reserve()
        recorder = Recorder(sink, taps={first: "client", second: "upstream"})
        host.add(recorder)
        async with host:
            yield host.urls()[0]
        recorder.close()


@pytest.mark.timeout(30)
def test_the_recorder_passes_each_chunk_on_before_the_next_one_is_written() -> None:
    """The client reads the same pieces through both taps as it reads directly."""

    async def both() -> tuple[list[bytes], list[bytes], Kept]:
        sink, read = Kept(), asyncio.Semaphore(0)
        async with serving(in_lockstep(read)) as server:
            async with asyncio.timeout(10):
                direct = await reads_of(server.url, read)
            read = asyncio.Semaphore(0)
        async with serving(in_lockstep(read)) as server, both_taps(server.url, sink) as url:
            async with asyncio.timeout(10):
                through = await reads_of(url, read)
        return direct, through, sink

    direct, through, sink = asyncio.run(both())
    assert direct == EVENTS
    assert through == EVENTS
    assert {e.tap for e in sink.ended} == {"client", "upstream"}
    for exchange in sink.ended:
        assert exchange.response is not None
        assert [c.size for c in exchange.response.chunks] == [len(e) for e in EVENTS], exchange.tap
        assert exchange.response.body == b"".join(EVENTS)
