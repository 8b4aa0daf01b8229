"""A server and a client that measure what stands between them, on sockets of loopback.

Both run in one process on one core; what is measured runs in a process of its own, on the other
one. The server writes the time into each event of a stream, so the client knows how long an event
was under way.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

BIG = 20_000_000
_JSON_BODY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "x" * 300}}]})
_FILLING = b'"},"finish_reason":null}],"padding":"' + b"x" * 60 + b'"}\n\n'
_EVENT_START = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"'
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class Load:
    """How much to send in one round. `gap` is the pause between two events, in seconds."""

    requests: int
    turns: int
    streams: int
    events: int
    gap: float


@dataclass(slots=True)
class Seen:
    """What one round saw, in seconds; the CPU is that of the process in between."""

    small: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    down: float = 0.0
    up: float = 0.0
    cpu_request: float = 0.0
    cpu_turn: float = 0.0
    cpu_event: float = 0.0


def _plain(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def request(path: str, body: bytes) -> bytes:
    """A request as bytes."""
    return b"POST %s HTTP/1.1\r\nHost: bench\r\nContent-Length: %d\r\n\r\n%s" % (
        path.encode(),
        len(body),
        body,
    )


def history(size: int, number: int) -> bytes:
    """A chat request of about `size` bytes whose last message is new, as an agent sends it."""
    old = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n}: " + "lorem ipsum " * 80}
        for n in range(size // 1000)
    ]
    new = {"role": "user", "content": f"question {number}"}
    return json.dumps({"model": "m", "messages": [*old, new]}).encode()


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """The server; its URL. /events/N/GAP streams, /big answers with 20 MB, all else is small."""
    small, big = _plain(_JSON_BODY.encode()), _plain(b"x" * BIG)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(_length(head))
                path = head.split(b" ", 2)[1].decode()
                if path.startswith("/events/"):
                    _, _, number, gap = path.split("/")
                    await _stream(writer, int(number), float(gap))
                else:
                    writer.write(big if path == "/big" else small)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, limit=2 * BIG)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _stream(writer: asyncio.StreamWriter, number: int, gap: float) -> None:
    writer.write(_STREAM_HEAD)
    for _ in range(number):
        event = b"%s%.9f%s" % (_EVENT_START, time.perf_counter(), _FILLING)
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await writer.drain()
        await asyncio.sleep(gap)
    writer.write(b"0\r\n\r\n")


def _length(head: bytes) -> int:
    low = head.lower()
    at = low.find(b"content-length:")
    return int(low[at + 15 : low.index(b"\r", at)]) if at >= 0 else 0


class Connection:
    """A client's connection, kept alive."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, path: str, body: bytes) -> float:
        """Ask and read the whole answer; seconds taken."""
        began = time.perf_counter()
        self._writer.write(request(path, body))
        await self._reader.readexactly(_length(await self._reader.readuntil(b"\r\n\r\n")))
        return time.perf_counter() - began

    async def stream(self, number: int, gap: float) -> tuple[float, list[float]]:
        """Seconds to the first event, and for how long each event was under way."""
        began = time.perf_counter()
        first, delays = 0.0, list[float]()
        self._writer.write(request(f"/events/{number}/{gap}", b"{}"))
        await self._reader.readuntil(b"\r\n\r\n")
        while size := int(await self._reader.readline(), 16):
            event = await self._reader.readexactly(size + 2)
            now = time.perf_counter()
            first = first or now - began
            sent = event[len(_EVENT_START) :].partition(b'"')[0]
            delays.append(now - float(sent))
        await self._reader.readline()
        return first, delays


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Connection]:
    """A connection to a URL."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2 * BIG)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


async def one_round(url: str, load: Load, pid: int | None) -> Seen:
    """All kinds of traffic once, through a URL; `pid` is the process whose CPU counts."""
    seen = Seen()
    path = "/v1/chat/completions"
    bodies = [history(200_000, number) for number in range(load.turns)]
    async with connected(url) as client:
        await client.ask(path, b"{}")
        before = await at_rest(pid)
        seen.small = [await client.ask(path, b"{}") for _ in range(load.requests)]
        seen.cpu_request = (await at_rest(pid) - before) / load.requests
        before = await at_rest(pid)
        seen.turn = [await client.ask(path, body) for body in bodies]
        seen.cpu_turn = (await at_rest(pid) - before) / load.turns
        seen.down = await client.ask("/big", b"{}")
        await at_rest(pid)
        seen.up = await client.ask("/files", b"x" * BIG)
    before = await at_rest(pid)
    await _streams(url, load, seen)
    seen.cpu_event = (await at_rest(pid) - before) / (load.streams * load.events)
    return seen


async def _streams(url: str, load: Load, seen: Seen) -> None:
    async def one(delay: float) -> None:
        # Begun one after another: agents do not all ask in the same millisecond.
        await asyncio.sleep(delay)
        async with connected(url) as client:
            first, delays = await client.stream(load.events, load.gap)
        seen.first.append(first)
        seen.events += delays

    starts = [number * load.gap / load.streams for number in range(load.streams)]
    await asyncio.gather(*map(one, starts))


async def at_rest(pid: int | None) -> float:
    """Wait until a process has done what it had to do; its CPU seconds so far.

    The recorder writes behind the traffic's back: that is its work as well, and must not fall on
    the next measurement.
    """
    used = cpu(pid)
    for _ in range(200):
        await asyncio.sleep(0.05)
        before, used = used, cpu(pid)
        if used - before < 0.002:
            break
    return used


def cpu(pid: int | None) -> float:
    """CPU seconds of a process so far, user and system; 0 for none."""
    # The clock of another process, as clock_getcpuclockid(3) makes it on Linux.
    return 0.0 if pid is None else time.clock_gettime(~pid << 3 | 2)
