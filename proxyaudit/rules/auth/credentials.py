"""The credentials of a request, wherever they stand. Their values never leave the rules raw."""

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from proxyaudit.core.exchange import Request
from proxyaudit.wire.redact import is_secret_header, is_secret_parameter

_SCHEME = re.compile(r"^(Bearer|Basic|Token|Key|ApiKey|Api-Key)\s+", re.IGNORECASE)
_REDACTED = re.compile(r"\[redacted sha256:[0-9a-f]+\]")
# What clients send where a key is asked for and none is needed.
_NO_SECRET = frozenset(
    {"", "none", "null", "empty", "dummy", "no-key", "not-needed", "anything", "x", "test", "na"}
    | {"sk-no-key-required", "undefined", "ollama", "local"}
)


# A shorter word may stand in a text by chance.
_SHORTEST = 8


class Credential(NamedTuple):
    """`secret` is raw or, in a recording of ours, its fingerprint; `name` that of the header."""

    name: str
    pointer: str
    secret: str

    @property
    def fingerprint(self) -> str:
        """What a report may show: equal for equal secrets of one recording."""
        if _REDACTED.search(self.secret):
            return self.secret
        return f"[sha256:{hashlib.sha256(self.secret.encode()).hexdigest()[:8]}]"


def credentials(request: Request) -> Iterator[Credential]:
    """Keys and tokens in headers and in the query; cookies and placeholders are left out."""
    for name, value in request.headers:
        low = name.lower()
        if is_secret_header(low) and "cookie" not in low:
            yield from _one(low, f"/headers/{low}", _SCHEME.sub("", value.strip()))
    for piece in request.url.partition("?")[2].split("&"):
        name, _, value = piece.partition("=")
        if is_secret_parameter(name):
            yield from _one(f"?{name}", "/url", unquote(value))


def hidden(request: Request, secret: str) -> Iterator[Credential]:
    """Where a secret stands that is known from elsewhere: in any other header, or in the body."""
    if len(secret) < _SHORTEST:
        return
    for name, value in request.headers:
        if secret in value:
            yield Credential(name.lower(), f"/headers/{name.lower()}", secret)
    if secret.encode() in request.body:
        yield Credential("the body", "", secret)


def _one(name: str, pointer: str, secret: str) -> Iterator[Credential]:
    if secret.strip().casefold() not in _NO_SECRET:
        yield Credential(name, pointer, secret.strip())
