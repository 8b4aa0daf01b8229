"""Secrets out of what is kept: each becomes a fingerprint that equal secrets share.

Names decide, not values: credentials travel in known headers and query parameters. Session labels,
token counts, rate limits and idempotency keys are evidence and stay.
"""

import hashlib
import hmac
import re
from urllib.parse import unquote

from proxyaudit.core.exchange import Headers

_SECRET_HEADER = re.compile(
    r"""authorization | ^(set-)?cookie2?$ | -auth$ | api[-_]?key
    | (access|account|auth|master|subscription|secret|private|functions|virtual|litellm|upstream
      |provider|gateway|proxy|client|project|user|team)[-_]key$
    | (^|[-_])(token|secret|password|passwd|credentials?|signature)$""",
    re.VERBOSE,
)
_SECRET_PARAMETER = re.compile(
    r"""^(key|sig|auth|pwd)$ | authorization | api[-_]?key
    | (access|account|auth|subscription|secret|private)[-_]?key$
    | (^|[-_]|access|auth|id|client)(token|secret|password|passwd|credentials?|signature)$""",
    re.VERBOSE,
)
_NOT_SECRET = re.compile(
    r"""rate-?limit | idempotency
    | (first|last|next|per|page|continuation|input|output|prompt|completion|stop|eos|bos)[-_]?token$
    | (key|token)[-_](id|name|type|count)$""",
    re.VERBOSE,
)
_SCHEME = re.compile(
    r"(?:Bearer|Basic|Token|Digest|ApiKey|Api-Key|Key|Negotiate|AWS4-HMAC-SHA256)(?:\s+|$)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\s*Bearer\s+[^\s\",]+\s*", re.IGNORECASE)
_REDACTED = re.compile(r"\[redacted sha256:[0-9a-f]{8}\]")
# Browsers cannot set headers on a websocket; the key goes into the name of a subprotocol.
_IN_PROTOCOL = re.compile(rf"(api-key\.)({_REDACTED.pattern}|[^,\s]+)", re.IGNORECASE)
_USER_INFO = re.compile(r"^([a-z][a-z0-9+.-]*://)([^/?#]*)(@)", re.IGNORECASE)
_SEPARATOR = re.compile(r"([;?#])")
_WITH_URL = frozenset({"referer", "location", "content-location", ":path", "x-original-url"})


class Redactor:
    """Replaces secrets by `[redacted sha256:1a2b3c4d]`, keyed by the salt of one recording.

    The same secret has the same fingerprint wherever it stands, so that another key, or a key
    where it does not belong, stays visible. What is redacted already stays as it is.
    """

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def headers(self, headers: Headers) -> Headers:
        """The headers with secrets replaced; order, number, names and all else unchanged."""
        return tuple((name, self._value(name.lower(), value)) for name, value in headers)

    def url(self, url: str) -> str:
        """The URL with user, password and key-like query values replaced, byte for byte else."""
        url = _USER_INFO.sub(lambda m: m[1] + self._hide(m[2]) + m[3], url)
        path, mark, query = url.partition("?")
        return path + mark + "&".join(self._parameters(piece) for piece in query.split("&"))

    def _value(self, name: str, value: str) -> str:
        if name in _WITH_URL:
            return self.url(value)
        if name == "sec-websocket-protocol":
            return _IN_PROTOCOL.sub(lambda m: m[1] + self._hide(m[2]), value)
        if name.endswith("-authenticate"):
            return value
        if is_secret_header(name) or _BEARER.fullmatch(value):
            return self._credential(value)
        return value

    def _credential(self, value: str) -> str:
        scheme = _SCHEME.match(value)
        kept = scheme[0] if scheme else ""
        return kept + self._hide(value[len(kept) :])

    def _parameters(self, piece: str) -> str:
        whole = self._parameter(piece)
        if whole != piece:
            return whole
        # Some servers split at semicolons too, and some clients add a second question mark.
        return "".join(self._parameter(part) for part in _SEPARATOR.split(piece))

    def _parameter(self, piece: str) -> str:
        name, mark, value = piece.partition("=")
        secret = mark and is_secret_parameter(name)
        return name + mark + self._hide(value) if secret else piece

    def _hide(self, secret: str) -> str:
        if not secret.strip() or _REDACTED.fullmatch(secret):
            return secret
        raw = secret.encode("utf-8", "surrogatepass")
        return f"[redacted sha256:{hmac.new(self._salt, raw, hashlib.sha256).hexdigest()[:8]}]"


def is_secret_header(name: str) -> bool:
    """Whether a header of this name carries a credential."""
    low = name.lower()
    return bool(_SECRET_HEADER.search(low)) and not _NOT_SECRET.search(low)


def is_secret_parameter(name: str) -> bool:
    """Whether a query parameter of this name (as it stands in the URL) carries a credential."""
    low = unquote(name).lower()
    return bool(_SECRET_PARAMETER.search(low)) and not _NOT_SECRET.search(low)
