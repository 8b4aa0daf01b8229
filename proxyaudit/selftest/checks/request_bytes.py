"""Requests arrive as they were sent."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Warn, check
from proxyaudit.selftest.compare import is_respaced, request_differences, rounds
from proxyaudit.selftest.script import OK, Pair, Round, Script, chunk, get, head, post

_ODD = (
    '{ "model":"m",\t"n":1.0, "n":1e0, "text":"\\u00e9 é 🙂", "nested":{"b":1,"a":2} }\r\n'.encode()
)
_LINES = (
    b"X-Second: 2",
    b"x-lower: kept",
    b"X-UPPER: KEPT",
    b"X-Twice: one",
    b"Accept: text/event-stream, application/json;q=0.5",
    b"x-twice: two",
    b"X-Empty:",
    b"X-Latin: caf\xe9",
    b"Accept-Encoding: gzip, deflate, br, zstd",
    b"User-Agent: selftest/1 (%s)" % (b"x" * 300),
    b"Cookie: a=1; b=2",
    b"Authorization: Bearer selftest",
    b"anthropic-version: 2023-06-01",
)


def _scripts() -> tuple[Script, ...]:
    chunked = Round(
        head(b"POST", b"Content-Type: application/json", b"Transfer-Encoding: chunked"),
        (OK,),
        (chunk(b'{"a":') + chunk(b"1}") + b"0\r\n\r\n",),
    )
    query = Round(head(b"GET", query=b"?a=b%20c&a=2&empty=&x=%2F%7e+y"), (OK,))
    verbs = tuple(Round(head(verb), (OK,)) for verb in (b"DELETE", b"OPTIONS"))
    put = Round(head(b"PUT", b"Content-Length: 5"), (OK,), (b"\x00\xff\r\n\x00",))
    return (
        Script((post((OK,), _ODD, *_LINES), get((OK,)), query, put, *verbs)),
        Script((chunked,)),
    )


@check("request.bytes", proves="requests arrive as they were sent", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """First line, headers with order, case, spacing and duplicates, body, query, chunked bodies.

    Only the value of `Host` may differ: it names the proxy or the upstream.
    """
    for direct, through in rounds(pairs):
        for difference in request_differences(direct, through):
            yield Fail(difference)
        if is_respaced(direct.request, through.request):
            yield Warn("spaces around the values of headers were changed")
        if direct.request and through.request:
            for difference in _framing(direct.request.framing, through.request.framing):
                yield Fail(difference)


def _framing(before: str, after: str) -> Iterator[str]:
    if before != after:
        yield f"the length of the body is told by {after!r} instead of {before!r}"
