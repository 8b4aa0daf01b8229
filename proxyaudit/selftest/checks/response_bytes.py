"""Answers arrive as they were sent."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, Warn, check
from proxyaudit.selftest.compare import is_respaced, response_differences, rounds
from proxyaudit.selftest.script import Fin, Pair, Script, Write, get, post, response

_LINES = (
    b"Date: Thu, 01 Jan 2026 00:00:00 GMT",
    b"Server: scripted",
    b"content-type: application/json; charset=utf-8",
    b"Set-Cookie: a=1; Path=/",
    b"X-Request-Id: 7f",
    b"set-cookie: b=2; HttpOnly",
    b"X-Empty:",
    b"X-Latin: caf\xe9",
    b"openai-processing-ms: 12",
    b"Vary: Origin",
    b"vary: Accept-Encoding",
)
_BODY = '{ "a": 1.0,\r\n\t"a": 2, "text": "é🙂\\u00e9" }\n'.encode()
_NO_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nto the end"


def _scripts() -> tuple[Script, ...]:
    answers = (response(b"200 OK", *_LINES, body=_BODY), response(b"200 Fine By Me", body=b""))
    return (
        Script(tuple(post((answer,)) for answer in answers)),
        Script((get((Write(_NO_LENGTH), Fin())),)),
    )


@check("response.bytes", proves="answers arrive as they were sent", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """First line and its reason, headers with order, case and duplicates, body; with a length, and
    up to the end of the connection."""
    for direct, through in rounds(pairs):
        for difference in response_differences(direct, through):
            yield Fail(difference)
        if is_respaced(direct.response, through.response):
            yield Warn("spaces around the values of headers were changed")
