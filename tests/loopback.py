"""A scripted HTTP server on a real loopback socket that keeps what it received, byte for byte."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

type Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """What the server received: one raw head and one body a request, and connections made."""

    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def headers(self, number: int) -> list[tuple[str, str]]:
        lines = self.heads[number].decode().split("\r\n")[1:-2]
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


def raw(*pieces: bytes, pause: float = 0.0) -> Answer:
    """An answer that writes these bytes, each in its own write, then keeps the connection."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(pause)
            writer.write(piece)
            await writer.drain()

    return answer


def plain(body: bytes, *headers: str, status: str = "200 OK") -> Answer:
    """A whole answer with a Content-Length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def then_close(first: Answer) -> Answer:
    """The same, then the connection ends (FIN)."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await first(writer)
        writer.close()

    return answer


def then_reset(first: Answer) -> Answer:
    """The same, then the connection is torn down (RST)."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        await first(writer)
        await asyncio.sleep(0.05)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return answer


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Server]:
    """Serve the answers in order, the last one for ever."""
    server = Server()
    left = list(answers)
    writers: list[asyncio.StreamWriter] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                server.heads.append(head)
                server.bodies.append(await reader.readexactly(_length(head)))
                server.asked.set()
                await (left.pop(0) if len(left) > 1 else left[0])(writer)
                if writer.is_closing():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(talk, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server
        for writer in writers:
            writer.close()
        await asyncio.sleep(0)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
