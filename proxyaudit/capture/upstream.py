"""Where a tap sends what it gets: the upstream URL, and paths put in front of paths."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from proxyaudit.core.errors import UserError

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Upstream:
    """An upstream URL taken apart. `path` has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as they stand in a `Host` header."""
        if self.port == _DEFAULT_PORTS[self.scheme]:
            return shown_host(self.host)
        return f"{shown_host(self.host)}:{self.port}"

    def is_at(self, host: str, port: int) -> bool:
        """Whether this is the server that listens on an address (0.0.0.0 is all of them)."""
        same = self.host == host or (
            self.host in _LOOPBACK and host in (*_LOOPBACK, "0.0.0.0", "::", "")  # noqa: S104
        )
        return same and self.port == port


def checked_upstream(url: str) -> Upstream:
    """Take an upstream URL apart, or say (UserError) what is wrong with it."""
    hint = "give a URL such as http://127.0.0.1:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"not a URL: {url!r} ({error})", hint) from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise UserError(f"not an http(s) URL: {url!r}", hint)
    if parts.username is not None:
        # What is quoted here may be read by others: not the credentials.
        raise UserError("the URL of an upstream may not hold credentials", hint)
    if parts.query or parts.fragment:
        raise UserError(f"a URL with more than host, port and path: {url!r}", hint)
    if port is None:
        port = _DEFAULT_PORTS[parts.scheme]
    return Upstream(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def joined_path(prefix: str, path: str) -> str:
    """Put the path of an upstream URL in front of the client's.

    `/api` and `/v1/x` give `/api/v1/x`; `/api/v1` and `/v1/x` too: an ending that the path begins
    with is not doubled, nor is a prefix that is there already.
    """
    prefix = prefix.rstrip("/")
    if not prefix or _begins(path, prefix):
        return path
    ending = "/" + prefix.rsplit("/", 1)[-1]
    if _begins(path, ending):
        return prefix + path[len(ending) :]
    return prefix + path


def _begins(path: str, start: str) -> bool:
    return path == start or path.startswith((f"{start}/", f"{start}?"))


def shown_host(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host
