"""Chunks arrive as they were cut, and at once."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds, stream_differences
from proxyaudit.selftest.script import LAST, STREAM, Pair, Script, Write, chunk, in_lockstep, post

_SIZES = (1, 2, 17, 300, 1, 4096, 33, 9000, 1, 64)


def _scripts() -> tuple[Script, ...]:
    frames = [bytes([97 + n]) * size for n, size in enumerate(_SIZES)]
    burst = b"".join(chunk(b"data: %d\n\n" % n) for n in range(40))
    return (
        Script((post(in_lockstep(frames)), post((STREAM, Write(burst), LAST)))),
        Script((post((STREAM, LAST)),)),
    )


@check(
    "stream.chunks",
    proves="chunks keep their number and size, each arrives before the next is sent",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """The upstream writes a chunk only when the client has read the one before: whatever holds
    one back brings the stream to a stop. 40 chunks in one write stay 40 chunks."""
    for direct, through in rounds(pairs):
        for difference in stream_differences(direct, through):
            yield Fail(difference)
