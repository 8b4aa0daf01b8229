"""Connections are kept."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Warn, check
from proxyaudit.selftest.compare import answer_differences, arrival_differences
from proxyaudit.selftest.script import LAST, OK, STREAM, Pair, Script, Write, chunk, get, post

_STREAMED = (STREAM, Write(chunk(b"data: 1\n\n")), LAST)


def _scripts() -> tuple[Script, ...]:
    return (Script((get((OK,)), post((OK,)), post(_STREAMED), get((OK,)), post(_STREAMED))),)


@check(
    "connection.reuse",
    proves="several requests go over one connection, as they do without the proxy",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """The client's connection stays open from one request to the next. That the proxy opens more
    connections to the upstream than the client has is allowed, costs time, and is told."""
    for pair in pairs:
        for number, (direct, through) in enumerate(zip(pair.direct, pair.through, strict=True), 1):
            for difference in (
                *arrival_differences(direct, through),
                *answer_differences(direct, through),
            ):
                yield Fail(f"request {number}: {difference}")
        used = {seen.connection for seen in pair.through if seen.connection}
        if len(used) > 1:
            yield Warn(f"{len(pair.through)} requests needed {len(used)} connections upstream")
