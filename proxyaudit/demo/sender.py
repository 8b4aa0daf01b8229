"""The scripted agent's HTTP client: one keep-alive connection, and every read noted."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from proxyaudit.demo.http1 import ChunkedDecoder, Head, Headers, read_head, request_head

_PATIENCE = 30.0

type Ended = Literal["complete", "cut", "refused"]


@dataclass(slots=True)
class Answer:
    """A response as read. `reads` are seconds since the request and the bytes of body it brought.

    `ended`: complete, cut (the connection broke inside the body, or fell silent), or refused
    (no response at all).
    """

    status: int | None = None
    headers: Headers = ()
    body: bytes = b""
    reads: list[tuple[float, int]] = field(default_factory=list)
    ended: Ended = "refused"


class Connection:
    """Sends requests to one origin, over one connection while the other side keeps it open."""

    def __init__(self, origin: str) -> None:
        parts = urlsplit(origin)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, headers: Headers, body: bytes) -> Answer:
        """One POST. Never raises for what the other side does: that is in the answer."""
        reused = self._streams is not None
        answer = await self._exchange(path, headers, body)
        if answer.ended == "refused" and reused:
            # The other side may close an idle connection just as it is used again.
            answer = await self._exchange(path, headers, body)
        return answer

    async def _exchange(self, path: str, headers: Headers, body: bytes) -> Answer:
        answer = Answer()
        fixed = (("host", f"{self._host}:{self._port}"), ("content-length", str(len(body))))
        try:
            async with asyncio.timeout(_PATIENCE):
                reader, writer = self._streams = self._streams or await self._open()
                writer.write(request_head("POST", path, (*fixed, *headers)) + body)
                await writer.drain()
                began = time.monotonic()
                if head := await _final_head(reader):
                    await _read(reader, head, answer, lambda: time.monotonic() - began)
        except (OSError, ValueError):
            answer.ended = "cut" if answer.status else "refused"
        if answer.ended != "complete" or _header(answer, "connection") == "close":
            await self.close()
        return answer

    async def close(self) -> None:
        """Close the connection; a later request opens a new one."""
        if self._streams:
            _, writer = self._streams
            self._streams = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(self._host, self._port)


def _header(answer: Answer, name: str) -> str:
    return next((value.lower() for key, value in answer.headers if key.lower() == name), "")


async def _final_head(reader: asyncio.StreamReader) -> Head | None:
    """The head of the response, interim ones (1xx) passed over."""
    while head := await read_head(reader):
        if not head.first.split(" ")[1].startswith("1"):
            return head
    return None


async def _read(
    reader: asyncio.StreamReader, head: Head, answer: Answer, clock: Callable[[], float]
) -> None:
    """Read the body into the answer, which tells how it ended."""
    answer.status, answer.headers, answer.ended = int(head.first.split(" ")[1]), head.headers, "cut"
    decoder = ChunkedDecoder() if head.is_chunked else None
    length = head.get("content-length")
    wanted = int(length) if length.isdecimal() and decoder is None else None
    while not (decoder.done if decoder else len(answer.body) == wanted):
        data = await reader.read(65536)
        if not data:
            # Without a length and without chunks the end of the connection is the end of the body.
            answer.ended = "complete" if decoder is None and wanted is None else "cut"
            return
        piece = decoder.feed(data) if decoder else data
        answer.body += piece
        if piece:
            answer.reads.append((clock(), len(piece)))
    answer.ended = "complete"
