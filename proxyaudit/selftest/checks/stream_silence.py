"""Silence is kept."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import answer_differences, rounds
from proxyaudit.selftest.script import LAST, OK, STREAM, Long, Pair, Script, Write, chunk, post


def _scripts() -> tuple[Script, ...]:
    first, second = Write(chunk(b"data: 1\n\n")), Write(chunk(b"data: 2\n\n"))
    return (Script((post((Long(), OK)), post((STREAM, first, Long(), second, LAST)))),)


@check(
    "stream.silence",
    proves="a long silence before and within an answer is waited for (--silence)",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """A prefill may take minutes. Only a silence as long as the one tried is proved."""
    for direct, through in rounds(pairs):
        for difference in answer_differences(direct, through):
            yield Fail(difference)
