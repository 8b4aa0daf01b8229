"""The upstream is not there, or leaves without a word."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds
from proxyaudit.selftest.script import Fin, Pair, Script, post


def _scripts() -> tuple[Script, ...]:
    return (
        Script((post((Fin(),)),), end="upstream_eof"),
        Script((post(()),), end="upstream_refused", dark=True),
    )


@check(
    "end.refused",
    proves="an upstream that is down, or closes without an answer, is told as an error at once",
    scripts=_scripts,
    late=True,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """The client gets a status of 500 or above, or its connection is closed: never a success,
    and never silence."""
    words = ("closed without an answer", "connection refused")
    for (_, through), why in zip(rounds(pairs), words, strict=True):
        if through.hung:
            yield Fail(f"{why}: the client still waits for an answer")
        elif through.response and through.response.status < 500:
            yield Fail(f"{why}: the client got status {through.response.status}")
