"""transport.encoding_mismatch"""

from collections.abc import Iterator

from proxyaudit.core.exchange import Request, Response, header
from proxyaudit.core.finding import Place
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.wire.content import decoded

_HEADER = "/headers/content-encoding"


@rule("transport.encoding_mismatch", severity="error", on=Turn)
def encoding_mismatch(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """content-encoding header does not fit the body.

    What it does
        Undoes the content encoding of request and response. Reports a body that is not encoded as
        its header says, and a body that is gzip or zstd data without a header. A body that is torn
        in the middle is stream.truncated.

    Why it matters
        The client fails to unpack the reply, or shows bytes as text. Nothing in the reply can be
        used, though the model did its work.

    Example
        Bad: content-encoding: gzip, and a body that begins with {"id": …
        Good: content-encoding: gzip, and gzip data; or neither

    What to look at next
        A hop that unpacks bodies to read them, and passes the header on.
    """
    exchange = turn.exchange
    for where, message in (("request", exchange.request), ("response", exchange.response)):
        fault = _mismatch(message) if message else None
        if message and fault:
            yield Found(
                f"the {where}'s content-encoding does not fit its body: {fault}",
                places=(_place(turn, where, message),),
                evidence={
                    "content-encoding": header(message.headers, "content-encoding"),
                    "begins": message.body[:16].hex(" "),
                },
            )


def _mismatch(message: Request | Response) -> str | None:
    """What is wrong, where nothing could be unpacked; None if something was, or all is well."""
    result = decoded(message.headers, message.body)
    unpacked = result.data != message.body
    if result.fault is None or unpacked or "is not known" in result.fault:
        return None
    return result.fault


def _place(turn: Turn, where: str, message: Request | Response) -> Place:
    told = header(message.headers, "content-encoding") is not None
    return at(turn, where, _HEADER if told else "/headers")
