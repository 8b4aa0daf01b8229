"""Interim answers: 100, 102, 103."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxyaudit.selftest.base import Fail, Outcome, Warn, check
from proxyaudit.selftest.compare import answer_differences, arrival_differences, rounds
from proxyaudit.selftest.script import OK, Pair, Script, Write, post

_HINTS = Write(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
_PROCESSING = Write(b"HTTP/1.1 102 Processing\r\n\r\n")


def _scripts() -> tuple[Script, ...]:
    asking = replace(post((OK,), b"{}" * 500, b"Expect: 100-continue"), asks_first=True)
    return (Script((asking,)), Script((post((_PROCESSING, _HINTS, OK)),)))


@check(
    "response.interim",
    proves="a client that asks before it sends gets its answer; so does one that gets hints",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """`Expect: 100-continue` is answered and the body arrives; 102 and 103 do not take the place
    of the answer. That a proxy answers `Expect` by itself, or keeps hints, is allowed and told."""
    for direct, through in rounds(pairs):
        for difference in (
            *arrival_differences(direct, through),
            *answer_differences(direct, through),
        ):
            yield Fail(difference)
        if direct.request and through.request:
            before, after = direct.request.value("expect"), through.request.value("expect")
            if before != after:
                yield Warn("`Expect: 100-continue` is answered by the proxy, not by the upstream")
        if direct.response and through.response:
            sent, got = direct.response.interim, through.response.interim
            if sent != got:
                yield Warn(f"interim answers: {len(sent)} direct, {len(got)} through the proxy")
