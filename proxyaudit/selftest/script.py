"""What is played, as plain data: what the client sends, and what the scripted upstream does."""

from collections.abc import Iterable
from dataclasses import dataclass

from proxyaudit.core.exchange import End
from proxyaudit.selftest.message import Message

# Marks. The first, in a request's head and in an answer, is replaced by the name of the round,
# which is as long; HOST in a head by the address that the client talks to, and PREFIX by the path
# of the proxy's URL.
ROUND, HOST, PREFIX = b"@name-of-this@", b"@HOST@", b"@PREFIX@"
PATH = b"/selftest/"


@dataclass(frozen=True, slots=True)
class Write:
    """One write of the upstream."""

    data: bytes


@dataclass(frozen=True, slots=True)
class AwaitRead:
    """The upstream goes on only when the client has read all of the body that was written."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Long:
    """A silence as long as the user wants it to be."""


@dataclass(frozen=True, slots=True)
class Fin:
    """The upstream closes the connection in the ordinary way."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The upstream tears the connection down."""


@dataclass(frozen=True, slots=True)
class UntilGone:
    """The upstream waits for the client to leave, and writes `every` again and again until then."""

    every: bytes = b""


@dataclass(frozen=True, slots=True)
class Echo:
    """The upstream accepts a websocket and sends every message back."""


type Step = Write | AwaitRead | Pause | Long | Fin | Reset | UntilGone | Echo


@dataclass(frozen=True, slots=True)
class Round:
    """One request and its answer. `body` are writes of the client, on the wire as they are.

    `leaves_at`: the client closes the connection when it has read so many bytes of the body.
    `asks_first`: it sends the body only when it was told to (100-continue). `messages` are sent
    on a websocket, one after the other, each when the one before has come back.
    """

    head: bytes
    answer: tuple[Step, ...]
    body: tuple[bytes, ...] = ()
    leaves_at: int | None = None
    asks_first: bool = False
    messages: tuple[str | bytes, ...] = ()

    @property
    def is_head(self) -> bool:
        return self.head.startswith(b"HEAD ")

    @property
    def silence(self) -> float:
        """Seconds that the upstream is silent on purpose, the long silence left out."""
        return sum(step.seconds for step in self.answer if isinstance(step, Pause))


@dataclass(frozen=True, slots=True)
class Script:
    """Rounds on one connection of the client, and how the last of them ends in a recording.

    `dark`: the upstream does not listen meanwhile. `clients`: how many play it at the same time,
    each on a connection of its own.
    """

    rounds: tuple[Round, ...]
    end: End = "complete"
    dark: bool = False
    clients: int = 1


@dataclass(frozen=True, slots=True)
class Seen:
    """What a round looked like from both ends. `name` stands in its URL; None: never got there.

    `stalled`: bytes of the body that were written when the client still had not read them all.
    `gone`: whether the upstream saw the client leave, if it waited for that. `connection` counts
    the upstream's connections. `failed` says why the client had no connection. `heard` are the
    messages of a websocket at the upstream, `echoed` those that came back. Times are in seconds of
    one clock: `asked_at`, `head_at` and `read_at` at the client, `written_at` at the upstream.
    `sent` is the request as the client sent it, `answered` the answer as the upstream did.
    """

    name: str
    sent: Message | None = None
    request: Message | None = None
    answered: Message | None = None
    response: Message | None = None
    stalled: int | None = None
    gone: bool | None = None
    connection: int = 0
    failed: str = ""
    hung: bool = False
    heard: tuple[str | bytes, ...] = ()
    echoed: tuple[str | bytes, ...] = ()
    asked_at: float = 0.0
    head_at: float = 0.0
    written_at: tuple[float, ...] = ()
    read_at: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A script played twice: direct, and through the proxy. One `Seen` for each round.

    Of several clients there are all rounds of the first, then all of the second, and so on.
    """

    script: Script
    direct: tuple[Seen, ...]
    through: tuple[Seen, ...]


def head(method: bytes, *lines: bytes, query: bytes = b"") -> bytes:
    """A request's head: the path names the round, and the host comes first."""
    start = b"%s %s%s%s%s HTTP/1.1" % (method, PREFIX, PATH, ROUND, query)
    return b"\r\n".join((start, b"Host: " + HOST, *lines)) + b"\r\n\r\n"


def post(
    answer: Iterable[Step], body: bytes = b"{}", *lines: bytes, leaves_at: int | None = None
) -> Round:
    """A POST of JSON."""
    about = (b"Content-Type: application/json", b"Content-Length: %d" % len(body))
    first = head(b"POST", *about, *lines)
    return Round(first, tuple(answer), (body,), leaves_at=leaves_at)


def get(answer: Iterable[Step], *lines: bytes) -> Round:
    """A GET without a body."""
    return Round(head(b"GET", *lines), tuple(answer))


def response(status: bytes, *lines: bytes, body: bytes | None = None) -> Write:
    """A whole answer in one write; with a body also its length."""
    length = () if body is None else (b"Content-Length: %d" % len(body),)
    return Write(
        b"\r\n".join((b"HTTP/1.1 " + status, *lines, *length)) + b"\r\n\r\n" + (body or b"")
    )


STREAM = Write(
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST = Write(b"0\r\n\r\n")
OK = response(b"200 OK", b"Content-Type: application/json", body=b'{"ok":true}')


def chunk(data: bytes) -> bytes:
    """A chunk of the chunked encoding."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def in_lockstep(frames: Iterable[bytes]) -> tuple[Step, ...]:
    """A stream whose every chunk is written only when the one before it was read."""
    steps: list[Step] = [STREAM]
    for frame in frames:
        steps += [Write(chunk(frame)), AwaitRead()]
    return (*steps, LAST)
