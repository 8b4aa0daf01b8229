"""One HTTP request and its response, as bytes, with the arrival time of every chunk."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, overload

type Tap = Literal["client", "upstream"]
type Headers = tuple[tuple[str, str], ...]
type End = Literal[
    "complete",
    "client_abort",
    "upstream_reset",
    "upstream_eof",
    "upstream_refused",
    "timeout",
    "recorder_stopped",
    "error",
]


class Chunk(NamedTuple):
    """A piece of a body: seconds since the exchange began, and its size in bytes."""

    at: float
    size: int


class WebSocketMessage(NamedTuple):
    """One websocket message; `data` is text, or bytes for a binary message."""

    at: float
    sender: Literal["client", "server"]
    data: str | bytes


def header(headers: Headers, name: str) -> str | None:
    """The first value of a header, whatever its case; None if it is absent."""
    wanted = name.lower()
    return next((value for key, value in headers if key.lower() == wanted), None)


class Kept(Protocol):
    """Bytes that are kept elsewhere, or in another form, until they are asked for."""

    def load(self) -> bytes: ...


class _Bytes:
    """A field of bytes that takes kept ones, too, and fetches them anew at each reading."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, holder: None, owner: type) -> bytes: ...
    @overload
    def __get__(self, holder: object, owner: type) -> bytes: ...
    def __get__(self, holder: object | None, owner: type) -> bytes:
        if holder is None:
            return b""  # the default
        value: bytes | Kept = holder.__dict__[self._name]
        return value if isinstance(value, bytes) else value.load()

    def __set__(self, holder: object, value: bytes | Kept) -> None:
        holder.__dict__[self._name] = value


@dataclass(frozen=True)
class Request:
    """A request as sent. `body` is verbatim: content encoding kept, transfer encoding removed."""

    method: str
    url: str
    headers: Headers = ()
    body: _Bytes = _Bytes()
    http_version: str = "HTTP/1.1"
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True)
class Response:
    """A response as received. `ended_at` is in seconds since the exchange began."""

    status: int
    headers: Headers = ()
    body: _Bytes = _Bytes()
    http_version: str = "HTTP/1.1"
    chunks: tuple[Chunk, ...] = ()
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, its response (None if none came) and how it ended.

    `started_at` is in seconds since the epoch, UTC. `connection` is opaque: equal on one TCP
    connection. `timed` says whether chunk times were observed; an importer without them says no.
    """

    id: str
    tap: Tap
    started_at: float
    request: Request
    response: Response | None = None
    end: End = "complete"
    error: str | None = None
    connection: str | None = None
    websocket: tuple[WebSocketMessage, ...] | None = None
    timed: bool = True
