"""Errors of the upstream stay what they are."""

from collections.abc import Iterator, Sequence

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import kept_differences, rounds
from proxyaudit.selftest.script import Pair, Script, post, response

_JSON = b"Content-Type: application/json"
_TOO_LONG = b'{"error":{"message":"context length exceeded","code":"context_length_exceeded"}}'


def _scripts() -> tuple[Script, ...]:
    answers = (
        response(b"400 Bad Request", _JSON, body=_TOO_LONG),
        response(b"401 Unauthorized", b"WWW-Authenticate: Bearer", _JSON, body=b'{"error":"key"}'),
        response(b"307 Temporary Redirect", b"Location: /elsewhere?x=1", body=b""),
        response(b"413 Payload Too Large", body=b""),
        response(b"429 Too Many Requests", b"Retry-After: 7", b"retry-after-ms: 70", body=b"slow"),
        response(b"500 Internal Server Error", b"Content-Type: text/html", body=b"<h1>no</h1>"),
        response(b"503 Service Unavailable", b"Retry-After: 1", body=b""),
        response(b"529 Overloaded", _JSON, body=b'{"type":"overloaded_error"}'),
    )
    return tuple(Script((post((answer,)),)) for answer in answers)


@check("response.errors", proves="errors and redirects arrive as such", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Status, headers (`Retry-After`, `Location`) and bodies of errors stay the upstream's."""
    for direct, through in rounds(pairs):
        for difference in kept_differences(direct, through):
            status = direct.response.status if direct.response else 0
            yield Fail(f"status {status}: {difference}")
