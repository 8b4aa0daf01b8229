"""Content encodings undone: gzip, deflate, br and zstd, chunk by chunk.

A body that does not decode is data like any other: what could be decoded comes back with a
`fault`, one line of plain words. A body that was never encoded as its header says comes back raw.
"""

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import brotli  # type: ignore[import-untyped]

from proxyaudit.core.exchange import Chunk, Headers

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LIMIT = 256 * 1024 * 1024
"""No body is unpacked beyond this many bytes: a few kilobytes can hold gigabytes of zeros."""

_STEP = 1024 * 1024
_MAGIC = {"gzip": b"\x1f\x8b\x08", "zstd": b"\x28\xb5\x2f\xfd"}
_TEXTUAL = ("json", "text/", "event-stream", "javascript")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body without its content encoding.

    `chunks` are those of the wire with the size that each of them decoded to, so that decoded
    bytes keep their arrival time. `fault` tells what was wrong, None if nothing was.
    """

    data: bytes
    fault: str | None = None
    chunks: tuple[Chunk, ...] = ()


def decoded(
    headers: Headers, body: bytes, chunks: Sequence[Chunk] = (), limit: int = LIMIT
) -> Decoded:
    """`body` with every content encoding of `headers` undone, at most `limit` bytes of it.

    Never raises: torn or damaged data gives what could be decoded and a fault; a body that is not
    encoded as the header says, or in a way not known here, gives the raw body and a fault.
    """
    encodings = _encodings(headers)
    if not encodings or not body:
        return Decoded(body, _undeclared(headers, body) if not encodings else None, tuple(chunks))
    pieces = cut(body, chunks)
    fault: str | None = None
    for encoding in reversed(encodings):
        pieces, fault = _undo(encoding, pieces, limit)
        if fault:
            break
    sizes = [len(piece) for piece in pieces]
    timed = tuple(Chunk(chunk.at, size) for chunk, size in zip(chunks, sizes, strict=False))
    return Decoded(b"".join(pieces), fault, timed)


def _encodings(headers: Headers) -> list[str]:
    named = [value for key, value in headers if key.lower() == "content-encoding"]
    words = [word.strip().lower() for value in named for word in value.split(",")]
    return [word for word in words if word not in ("", "identity", "none")]


def _undeclared(headers: Headers, body: bytes) -> str | None:
    kind = next((value.lower() for key, value in headers if key.lower() == "content-type"), "json")
    if not any(word in kind for word in _TEXTUAL):
        return None
    found = next((name for name, magic in _MAGIC.items() if body.startswith(magic)), None)
    return found and f"the body is {found} data, but no content-encoding header says so"


def cut(body: bytes, chunks: Sequence[Chunk]) -> list[bytes]:
    """The body in the pieces it came in; bytes beyond the chunks belong to the last of them."""
    pieces, start = [], 0
    for chunk in chunks[:-1]:
        pieces.append(body[start : start + chunk.size])
        start += chunk.size
    return [*pieces, body[start:]]


class _Codec(Protocol):
    """One compressed stream. `feed` gives pieces of at most about a megabyte."""

    ended: bool
    rest: bytes

    def feed(self, data: bytes) -> Iterator[bytes]: ...


class _Zlib:
    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits)
        self.ended, self.rest = False, b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            out = self._inner.decompress(data, _STEP)
            yield out
            self.ended, self.rest = self._inner.eof, self._inner.unused_data
            data = self._inner.unconsumed_tail
            if self.ended or (not data and len(out) < _STEP):
                return


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor()
        self.ended, self.rest = False, b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        while True:
            yield self._inner.decompress(data, _STEP)
            self.ended, self.rest = self._inner.eof, self._inner.unused_data
            data = b""
            if self.ended or self._inner.needs_input:
                return


class _Brotli:
    rest = b""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()
        self.ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while not self.ended:
            out = self._inner.process(data, output_buffer_limit=_STEP)
            yield out
            self.ended = self._inner.is_finished()
            data = b""
            # It may still hold output when it says that it can accept more: ask until none comes.
            if not out and self._inner.can_accept_more_data():
                return


def _deflate(start: bytes) -> _Zlib:
    """Some servers leave out the zlib header that the standard asks for."""
    headed = len(start) < 2 or (start[0] & 15 == 8 and int.from_bytes(start[:2]) % 31 == 0)
    return _Zlib(zlib.MAX_WBITS if headed else -zlib.MAX_WBITS)


_CODECS: dict[str, Callable[[bytes], _Codec]] = {
    "gzip": lambda _: _Zlib(16 + zlib.MAX_WBITS),
    "x-gzip": lambda _: _Zlib(16 + zlib.MAX_WBITS),
    "deflate": _deflate,
    "br": lambda _: _Brotli(),
    "zstd": lambda _: _Zstd(),
}
# Only these may be a row of several streams, one after the other.
_ROWS = {"gzip": b"\x1f", "x-gzip": b"\x1f", "zstd": b"\x28"}


class _Fault(Exception):
    """How the decoding of one body ended; never leaves this module."""


class _Undoing:
    """Undoes one encoding of one body."""

    def __init__(self, encoding: str, start: bytes, limit: int) -> None:
        self._encoding, self._start, self._room = encoding, start, limit
        self._codec = _CODECS[encoding](start)

    def feed(self, data: bytes, out: list[bytes]) -> None:
        while data:
            if self._codec.ended:
                self._next_stream(data)
            for piece in self._codec.feed(data):
                out.append(piece[: self._room])
                self._room -= len(piece)
                if self._room < 0:
                    raise _Fault("the body unpacks to more than the limit; the rest is left out")
            data = self._codec.rest

    def _next_stream(self, data: bytes) -> None:
        if not data.startswith(_ROWS.get(self._encoding, b"\0never")):
            raise _Fault(f"bytes follow the end of the {self._encoding} data")
        self._codec = _CODECS[self._encoding](data)

    def close(self) -> None:
        if not self._codec.ended:
            raise _Fault(f"the {self._encoding} data is torn: it stops before its end")


def _undo(encoding: str, pieces: list[bytes], limit: int) -> tuple[list[bytes], str | None]:
    """The pieces without one encoding, as many as went in, and what was wrong."""
    if encoding not in _CODECS:
        return pieces, f"content-encoding {encoding[:40]} is not known"
    start = next((piece for piece in pieces if piece), b"")
    undoing = _Undoing(encoding, start, limit)
    done: list[list[bytes]] = [[] for _ in pieces]
    fault: str | None = None
    try:
        for piece, out in zip(pieces, done, strict=True):
            undoing.feed(piece, out)
        undoing.close()
    except _Fault as problem:
        fault = str(problem)
    except (zlib.error, brotli.error, zstd.ZstdError, EOFError) as problem:
        fault = f"the {encoding} data is damaged: {problem}"
        if not any(any(out) for out in done) or _is_text(b"".join(pieces)):
            return pieces, f"content-encoding says {encoding}, but the body is not {encoding} data"
    return [b"".join(out) for out in done], fault


def _is_text(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
