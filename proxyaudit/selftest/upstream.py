"""The scripted upstream: it does what the round that a request names has in its script."""

import asyncio
import re
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from proxyaudit.core.errors import UserError
from proxyaudit.selftest.live import Live
from proxyaudit.selftest.message import Reader
from proxyaudit.selftest.old import Downgrade
from proxyaudit.selftest.script import (
    PATH,
    ROUND,
    AwaitRead,
    Echo,
    Fin,
    Long,
    Pause,
    Reset,
    Step,
    UntilGone,
    Write,
)
from proxyaudit.selftest.talk import accept_line, echo

_READ = 1 << 18
_BEAT = 0.05
_NAME = re.compile(re.escape(PATH) + rb"([0-9a-z-]+)")
_STRANGER = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_NO_UPGRADE = b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n"
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"

type Finder = Callable[[str], Live | None]


class Upstream:
    """Listens on loopback. `find` gives the round that a name stands for.

    Raises UserError where the address cannot be listened on.
    """

    def __init__(self, host: str, port: int, find: Finder) -> None:
        self.host, self.port = host, port
        self._find = find
        self._server: asyncio.Server | None = None
        self._count = 0
        self._talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def open(self) -> None:
        """Begin to listen, at the same port as before."""
        try:
            self._server = await asyncio.start_server(self._serve, self.host, self.port)
        except OSError as error:
            raise UserError(
                f"cannot listen on {self.host}:{self.port}: {error.strerror}", "choose another port"
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, and end every connection: the next one is refused."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        talks = list(self._talks)
        for task, writer in self._talks.items():
            writer.close()
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks[task] = writer
        self._count += 1
        try:
            await self._talk(self._count, reader, writer)
        except OSError:
            pass  # the peer went away; what that means is judged by what was seen
        finally:
            del self._talks[task]
            writer.close()

    async def _talk(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        rest = b""
        while not writer.is_closing():
            request, live = Reader(is_response=False), None
            data = rest
            while not request.complete:
                data = data or await reader.read(_READ)
                if not data:
                    return
                request.feed(data)
                data = b""
                if request.head_done and live is None:
                    live = await self._arriving(request, number, writer)
            rest = _surplus(request)
            if live is None:
                writer.write(_STRANGER)
                continue
            live.arrived.set()
            try:
                await _Answering(live, reader, writer).all()
            finally:
                live.done.set()

    async def _arriving(
        self, request: Reader, number: int, writer: asyncio.StreamWriter
    ) -> Live | None:
        """The head is there: find out whose it is, and let an asking client go on."""
        message = request.message()
        name = _NAME.search(message.first) if message else None
        live = self._find(name[1].decode()) if name else None
        if live is not None:
            live.request, live.connection = request, number
            if message and message.value("expect"):
                writer.write(_GO_ON)
                await writer.drain()
        return live


def _surplus(request: Reader) -> bytes:
    message = request.message()
    return message.surplus if message else b""


class _Answering:
    """Takes the steps of a round, on the connection that its request came by."""

    def __init__(
        self, live: Live, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._live, self._reader, self._writer = live, reader, writer
        message = live.request.message()
        assert message is not None
        self._request = message
        is_old = message.first.endswith(b"HTTP/1.0")
        self._old = Downgrade(bodiless=live.round.is_head) if is_old else None

    async def all(self) -> None:
        for step in self._live.round.answer:
            await self._take(step)
        if self._old is not None:
            self._writer.close()

    async def _take(self, step: Step) -> None:
        live = self._live
        match step:
            case Write(data):
                data = data.replace(ROUND, live.name.encode())
                live.upstream_wrote(data)
                self._write(data)
                await self._writer.drain()
            case AwaitRead():
                await live.all_read()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Long():
                await asyncio.sleep(live.timing.silence)
            case UntilGone(every):
                live.gone = await self._until_gone(every)
            case Echo():
                await self._websocket()
            case Fin():
                live.wrote.end("fin")
                self._writer.close()
            case Reset():
                live.wrote.end("reset")
                reset(self._writer)

    def _write(self, data: bytes) -> None:
        self._writer.write(self._old.feed(data) if self._old is not None else data)

    async def _until_gone(self, every: bytes) -> bool:
        """Whether the peer ended the connection before patience did."""
        leaving = asyncio.ensure_future(self._reader.read(1))
        try:
            for _ in range(int(self._live.timing.patience / _BEAT)):
                done, _pending = await asyncio.wait({leaving}, timeout=_BEAT)
                if done:
                    return leaving.exception() is not None or not leaving.result()
                with suppress(OSError):
                    self._write(every)
            return False
        finally:
            leaving.cancel()

    async def _websocket(self) -> None:
        if not self._request.value("upgrade"):
            self._live.upstream_wrote(_NO_UPGRADE)
            self._write(_NO_UPGRADE)
            return
        first = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        accepted = first + accept_line(self._request.value("sec-websocket-key")) + b"\r\n\r\n"
        self._live.upstream_wrote(accepted)
        self._writer.write(accepted)
        await echo(self._reader, self._writer, self._live.heard)
        self._writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """Tear a connection down: the peer gets RST instead of FIN."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
