"""Large bodies."""

import random
from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import answer_differences, arrival_differences, rounds
from proxyaudit.selftest.script import OK, Pair, Script, post, response

_SIZE = 20 << 20


def _scripts() -> tuple[Script, ...]:
    body = random.Random(1).randbytes(_SIZE)  # noqa: S311 - not a secret, and the same each time
    return (Script((post((OK,), body),)), Script((post((response(b"200 OK", body=body),)),)))


@check("body.large", proves="20 MB arrive unchanged in both directions", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """A request of 20 MB and an answer of 20 MB, byte for byte."""
    for direct, through in rounds(pairs):
        for difference in arrival_differences(direct, through):
            yield Fail(f"request: {difference}")
        for difference in answer_differences(direct, through):
            yield Fail(f"answer: {difference}")
