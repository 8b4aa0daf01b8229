"""The upstream breaks off."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds
from proxyaudit.selftest.script import (
    STREAM,
    AwaitRead,
    Fin,
    Pair,
    Reset,
    Script,
    Write,
    chunk,
    post,
)

_BEGUN = (STREAM, Write(chunk(b"data: 1\n\n")), AwaitRead())
_WORDS = (
    "the connection was reset between chunks",
    "the connection was closed between chunks",
    "the connection was closed within a chunk",
    "the connection was closed before the end of a body with a length",
)


def _scripts() -> tuple[Script, ...]:
    short = Write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"cut":')
    return (
        Script((post((*_BEGUN, Reset())),), end="upstream_reset"),
        Script((post((*_BEGUN, Fin())),), end="upstream_eof"),
        Script((post((*_BEGUN, Write(b"20\r\ndata: half"), AwaitRead(), Fin())),), "upstream_eof"),
        Script((post((short, AwaitRead(), Fin())),), end="upstream_eof"),
    )


@check(
    "end.upstream",
    proves="an answer that breaks off is seen to break off by the client",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Reset, closed between chunks, within a chunk, or short of its length: what came before is
    there, and the client is not told that this was all."""
    for (direct, through), words in zip(rounds(pairs), _WORDS, strict=True):
        answer = through.response
        if answer is None:
            yield Fail(f"{words}: what had come before did not reach the client")
            continue
        if through.hung:
            yield Fail(f"{words}: the client still waits for more")
        elif answer.status >= 500:
            yield Fail(f"{words}: status {answer.status} took the place of what had come before")
        elif answer.complete:
            yield Fail(f"{words}: the client got a whole answer, with a clean end")
        elif direct.response and answer.body != direct.response.body:
            yield Fail(f"{words}: {len(answer.body)} bytes of {len(direct.response.body)} arrived")
