"""Answers without a body, and the answer that follows on the same connection."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import arrival_differences, kept_differences, rounds
from proxyaudit.selftest.script import OK, Pair, Round, Script, get, head, response


def _scripts() -> tuple[Script, ...]:
    length = response(b"200 OK", b"Content-Type: application/json", b"Content-Length: 1234")
    return (
        Script((Round(head(b"HEAD"), (length,)), get((OK,)))),
        Script((get((response(b"204 No Content", b"X-A: 1"),)), get((OK,)))),
        Script((get((response(b"304 Not Modified", b'ETag: "1"'),)), get((OK,)))),
    )


@check("response.bodiless", proves="HEAD, 204 and 304 have no body, and no more", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Their headers stay, `Content-Length` of a HEAD too, and the connection can go on."""
    for direct, through in rounds(pairs):
        for difference in (
            *arrival_differences(direct, through),
            *kept_differences(direct, through),
        ):
            yield Fail(difference)
