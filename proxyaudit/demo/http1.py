"""The little of HTTP/1.1 that the scripted backend and the scripted agent need."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

type Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The first line and the headers of a message, and their exact bytes."""

    first: str
    headers: Headers
    raw: bytes

    def get(self, name: str, default: str = "") -> str:
        """The first value of a header, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)

    @property
    def is_chunked(self) -> bool:
        return "chunked" in self.get("transfer-encoding").lower()

    @property
    def keeps_open(self) -> bool:
        """Whether the connection may be used again after this message."""
        return "HTTP/1.1" in self.first and self.get("connection").lower() != "close"


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """The next head, or None where the peer has closed the connection."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Head(first, tuple((name, value.strip()) for name, _, value in pairs), raw)


async def read_body(reader: asyncio.StreamReader, head: Head) -> bytes:
    """A whole request body; raises `asyncio.IncompleteReadError` if it is cut short."""
    if not head.is_chunked:
        length = head.get("content-length", "0")
        return await reader.readexactly(int(length) if length.isdecimal() else 0)
    decoder, body = ChunkedDecoder(), b""
    while not decoder.done:
        piece = await reader.readline()
        if not piece:
            raise asyncio.IncompleteReadError(body, None)
        body += decoder.feed(piece)
    return body


class ChunkedDecoder:
    """Takes the chunked transfer encoding away, piece by piece. `done` after the last chunk.

    `feed` raises ValueError where a chunk size is not a hexadecimal number.
    """

    def __init__(self) -> None:
        self.done = False
        self._raw = b""
        self._left = 0  # of this chunk, the two bytes that end it counted in
        self._last = False

    def feed(self, data: bytes) -> bytes:
        """The body bytes that this piece of the wire brings."""
        self._raw += data
        body = b""
        while self._raw and not self.done:
            if self._left:
                taken = self._raw[: self._left]
                body += taken[: max(0, self._left - 2)]
                self._raw, self._left = self._raw[self._left :], self._left - len(taken)
            elif not self._read_line():
                break
        return body

    def _read_line(self) -> bool:
        """Read a size line, or after the last chunk a trailer line; False if it is not whole."""
        line, newline, rest = self._raw.partition(b"\r\n")
        if not newline:
            return False
        self._raw = rest
        if self._last:
            self.done = not line
            return True
        size = int(line.split(b";")[0], 16)
        self._left, self._last = size + 2 if size else 0, not size
        return True


def chunk(data: bytes) -> bytes:
    """One chunk of the chunked encoding; empty data makes the last one."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def response_head(status: int, headers: Headers) -> bytes:
    """The head of a response, ready to send."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def request_head(method: str, path: str, headers: Headers) -> bytes:
    """The head of a request, ready to send."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
