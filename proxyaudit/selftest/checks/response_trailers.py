"""Trailers behind a chunked body."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Warn, check
from proxyaudit.selftest.compare import answer_differences, rounds
from proxyaudit.selftest.script import OK, Pair, Script, Write, chunk, get, post

_HEAD = b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
_TRAILERS = b"0\r\nX-Sum: 9\r\nServer-Timing: x;dur=1\r\n\r\n"


def _scripts() -> tuple[Script, ...]:
    return (Script((post((Write(_HEAD + chunk(b"data: 1\n\n") + _TRAILERS),)), get((OK,)))),)


@check("response.trailers", proves="a body with trailers ends as it should", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """The body is whole and the connection goes on. A proxy may leave the trailers themselves out
    (RFC 9110, section 6.5.1): that is told as a warning."""
    for direct, through in rounds(pairs):
        for difference in answer_differences(direct, through):
            yield Fail(difference)
        if direct.response and through.response:
            before, after = direct.response.trailers, through.response.trailers
            if before and not after:
                yield Warn("the trailers were left out")
            elif before != after:
                yield Fail("the trailers were changed")
