"""Server-sent events, cut where it hurts."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds, stream_differences
from proxyaudit.selftest.script import Pair, Script, in_lockstep, post

_LETTERS = "data: é🙂漢\n\n".encode()
_FRAMES = (
    b"\xef\xbb\xbf: hello\n\n",
    b'event: message\r\nid: 1\r\ndata: {"n":1}\r\n\r\n',
    b"data: {",
    b'"n":2}\n\ndata: {"n":3}\n\n',
    *(_LETTERS[n : n + 1] for n in range(len(_LETTERS))),
    b"data: a\rdata: b\r\r",
    b"retry: 10\n: ping\n\n",
    b"data: " + b"x" * 12000 + b"\n",
    b"\n",
    b"data: \xff\xfe no text\n\n",
    b"data: [DONE]\n\n",
)


def _scripts() -> tuple[Script, ...]:
    return (Script((post(in_lockstep(_FRAMES)),)),)


@check(
    "stream.events",
    proves="events arrive untouched, also where a letter is cut between two chunks",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Comments, every kind of line end, a byte order mark, events and letters that are cut
    between chunks, bytes that are no text: all of it as it was, and each piece at once."""
    for direct, through in rounds(pairs):
        for difference in stream_differences(direct, through):
            yield Fail(difference)
