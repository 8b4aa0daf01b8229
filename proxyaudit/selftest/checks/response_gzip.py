"""Compressed bodies."""

import gzip
import zlib
from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import kept_differences, rounds, stream_differences
from proxyaudit.selftest.script import (
    LAST,
    AwaitRead,
    Pair,
    Script,
    Step,
    Write,
    chunk,
    post,
    response,
)

_ASKED = b"Accept-Encoding: gzip"
_EVENTS = [b'data: {"n":%d}\n\n' % n for n in range(6)]
_STREAM = Write(
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def _scripts() -> tuple[Script, ...]:
    body = gzip.compress(b'{"a":"%s"}' % (b"x" * 5000), mtime=0)
    whole = response(b"200 OK", b"Content-Encoding: gzip", b"Vary: Accept-Encoding", body=body)
    broken = response(b"200 OK", b"Content-Encoding: gzip", body=b"this is no gzip at all")
    return tuple(
        Script((post(answer, b"{}", _ASKED),)) for answer in ((whole,), (broken,), tuple(_packed()))
    )


def _packed() -> Iterator[Step]:
    """Events in one gzip stream, flushed after each."""
    packer = zlib.compressobj(wbits=31)
    yield _STREAM
    for event in _EVENTS:
        yield Write(chunk(packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH)))
        yield AwaitRead()
    yield Write(chunk(packer.flush()))
    yield LAST


@check("response.gzip", proves="compressed bodies are left as they are", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """A gzip body and a gzip stream of events arrive byte for byte, chunk for chunk, and so does
    a body that only claims to be gzip."""
    for direct, through in rounds(pairs):
        for difference in (
            *kept_differences(direct, through),
            *stream_differences(direct, through),
        ):
            yield Fail(difference)
