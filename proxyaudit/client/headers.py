"""Which headers leave with a request: those recorded, in their order, but for the hop's own."""

import re
from urllib.parse import quote

from proxyaudit.core.exchange import Headers, Request, header

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_DEFAULT_PORT = {"http": 80, "https": 443}
_AUTHORITY_END = re.compile(r"[/?#]")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_USUALLY_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


def outgoing_headers(request: Request) -> Headers:
    """The headers to send: `Host` and `Content-Length` made new in their old places.

    Hop-by-hop headers (those of RFC 9110 and those that `Connection` names) and HTTP/2 pseudo
    headers are left out: they spoke of another connection. All else stays as it is, duplicates
    and letter case included. A body that came in chunks goes out with a `Content-Length`.
    """
    dropped = HOP_BY_HOP | _named_by_connection(request.headers)
    host, length = host_header(request.url), _content_length(request)
    sent: list[tuple[str, str]] = []
    seen: set[str] = set()
    for name, value in request.headers:
        low = name.lower()
        fresh = {"host": host, "content-length": length}.get(low, value)
        once = low in {"host", "content-length"}
        if low in dropped or low.startswith(":") or fresh is None or (once and low in seen):
            continue
        seen.add(low)
        sent.append((name, fresh))
    if "host" not in seen:
        sent.insert(0, ("Host", host))
    if "content-length" not in seen and length is not None:
        sent.append(("Content-Length", length))
    return tuple(sent)


def origin(url: str) -> tuple[str, str]:
    """Scheme and authority (host and port, no user) of a URL; never raises, whatever it is."""
    scheme, _, rest = url.partition("://")
    return scheme.lower(), _AUTHORITY_END.split(rest, maxsplit=1)[0].rpartition("@")[2]


def host_header(url: str) -> str:
    """The value of `Host` for a URL: no port where it is the scheme's own."""
    scheme, authority = origin(url)
    default = _DEFAULT_PORT.get(scheme)
    return authority.removesuffix(f":{default}") if default else authority


def request_target(url: str) -> bytes:
    """Path and query as they stand in the URL; only what no request line may hold is quoted."""
    rest = url.partition("://")[2].partition("#")[0]
    start = _AUTHORITY_END.search(rest)
    target = rest[start.start() :] if start else ""
    if not target.startswith("/"):
        target = "/" + target
    return quote(target, safe=_PRINTABLE).encode("ascii")


def _named_by_connection(headers: Headers) -> frozenset[str]:
    named = (value for name, value in headers if name.lower() == "connection")
    words = {word.strip().lower() for value in named for word in value.split(",")}
    # A sender that names an end-to-end header there must not make us lose the framing or the host.
    return frozenset(words - {"host", "content-length", "content-type", "authorization"})


def _content_length(request: Request) -> str | None:
    framed = any(header(request.headers, h) for h in ("content-length", "transfer-encoding"))
    if request.body or framed or request.method.upper() in _USUALLY_WITH_BODY:
        return str(len(request.body))
    return None
