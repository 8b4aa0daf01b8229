"""The client goes away."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import rounds
from proxyaudit.selftest.script import (
    STREAM,
    AwaitRead,
    Pair,
    Script,
    UntilGone,
    Write,
    chunk,
    post,
)

_FIRST = b"data: 1\n\n"


def _scripts() -> tuple[Script, ...]:
    begun = (STREAM, Write(chunk(_FIRST)), AwaitRead(), UntilGone(chunk(b"data: more\n\n")))
    return (
        Script((post(begun, leaves_at=len(_FIRST)),), end="client_abort"),
        Script((post((UntilGone(),), leaves_at=0),), end="client_abort"),
    )


@check(
    "end.client",
    proves="a client that goes away is seen to go by the upstream, which can stop its work",
    scripts=_scripts,
)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """In the middle of a stream, and while it still waits for the first byte of an answer."""
    moments = ("in the middle of a stream", "before the first byte of the answer")
    for (_, through), moment in zip(rounds(pairs), moments, strict=True):
        if not through.gone:
            yield Fail(f"{moment}: the upstream did not see that the client had left")
