"""Harmless requests to a real upstream, direct and through the recorder, compared in structure.

Each goes direct twice: what differs between these is the upstream's own doing.
"""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from proxyaudit.core.json import JSON
from proxyaudit.core.selftest import CheckResult
from proxyaudit.selftest.base import Fail, Outcome, Warn
from proxyaudit.selftest.message import Message, Reader
from proxyaudit.selftest.run import result_of

type Announce = Callable[[str], None]

_PATIENCE = 120.0
_READ = 1 << 16
_MODELS, _CHAT = "/v1/models", "/v1/chat/completions"
# Values of these do not change from one answer to the next; those of others may.
_STEADY = frozenset(
    {"content-type", "content-encoding", "transfer-encoding", "cache-control", "vary", "server"}
)
_DATA = re.compile(rb"^data: ?(.*?)\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Caller:
    """A way to the upstream. `path` makes a path of the API one of this address."""

    host: str
    port: int
    authority: str
    tls: bool = False
    key: str | None = None
    path: Callable[[str], str] = lambda path: path

    async def ask(self, method: str, path: str, body: bytes = b"") -> Message | str:
        """One request on a connection of its own; the answer, or why there is none."""
        context = ssl.create_default_context() if self.tls else None
        reader = Reader(is_response=True)
        try:
            async with asyncio.timeout(_PATIENCE):
                there, back = await asyncio.open_connection(self.host, self.port, ssl=context)
                try:
                    back.write(self._request(method, path, body))
                    while not reader.complete and (data := await there.read(_READ)):
                        reader.feed(data)
                finally:
                    back.close()
        except (OSError, TimeoutError) as error:
            return f"no answer: {error or 'it took too long'}"
        if not reader.complete:
            reader.end("fin")
        return reader.message() or "the connection was closed without an answer"

    def _request(self, method: str, path: str, body: bytes) -> bytes:
        lines = [
            f"{method} {self.path(path)} HTTP/1.1",
            f"Host: {self.authority}",
            "User-Agent: proxyaudit-selftest",
            "Accept: application/json, text/event-stream",
            "Accept-Encoding: identity",
            "Connection: close",
        ]
        if self.key:
            lines.append(f"Authorization: Bearer {self.key}")
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def real_checks(
    direct: Caller, tap: Caller, announce: Announce
) -> AsyncIterator[CheckResult]:
    """Ask for the list of models, and if there is one, for a few streamed tokens."""
    announce(f"asking {direct.authority} (twice direct, once through the recorder):")
    announce(f"  GET {direct.path(_MODELS)}")
    proves = "the real upstream's list of models arrives in the same form"
    one, through, two = await _thrice(direct, tap, "GET", _MODELS)
    yield _compared("real.models", proves, one, through, two)
    proves = "a short answer of the real upstream is streamed in the same form"
    model = _model(one)
    if model is None:
        why = "no model is listed"
        yield CheckResult(id="real.stream", proves=proves, status="skip", details=[why])
        return
    announce(f"  POST {direct.path(_CHAT)}, streamed, at most 8 tokens of {model}")
    asked = {"model": model, "messages": [{"role": "user", "content": "Say OK."}]}
    body = json.dumps({**asked, "max_tokens": 8, "temperature": 0, "stream": True}).encode()
    one, through, two = await _thrice(direct, tap, "POST", _CHAT, body)
    yield _compared("real.stream", proves, one, through, two)


type _Answer = Message | str


async def _thrice(
    direct: Caller, tap: Caller, method: str, path: str, body: bytes = b""
) -> tuple[_Answer, _Answer, _Answer]:
    one = await direct.ask(method, path, body)
    through = await tap.ask(method, path, body)
    return one, through, await direct.ask(method, path, body)


def _compared(id_: str, proves: str, one: _Answer, through: _Answer, two: _Answer) -> CheckResult:
    for answer in (one, two):
        if isinstance(answer, str):
            return CheckResult(
                id=id_, proves=proves, status="skip", details=[f"direct: {answer}"], judged=False
            )
    assert isinstance(one, Message)
    assert isinstance(two, Message)
    if isinstance(through, str):
        return result_of(id_, proves, [Fail(through)])
    return result_of(id_, proves, structure_differences(one, two, through))


def structure_differences(one: Message, two: Message, through: Message) -> Iterator[Outcome]:
    """How an answer differs in form from two direct ones: not in the model's words."""
    if through.status not in (one.status, two.status):
        yield Fail(f"status {through.status} instead of {one.status}")
        return
    for difference in _header_differences(one, two, through):
        yield Fail(difference)
    if through.framing not in (one.framing, two.framing):
        yield Fail(f"the body is told by {through.framing!r} instead of {one.framing!r}")
    if one.complete and two.complete and not through.complete:
        yield Fail("the answer did not come to its end")
    if len(through.frames) == 1 and min(len(one.frames), len(two.frames)) > 1:
        yield Fail(f"one chunk arrived instead of {len(one.frames)}: it was held back")
    shapes = [_shapes(answer) for answer in (one, two, through)]
    if shapes[0] == shapes[1] != shapes[2]:
        yield Warn("the JSON of the answer has other keys")


def _header_differences(one: Message, two: Message, through: Message) -> Iterator[str]:
    first, second, got = ([name for name, _ in m.headers] for m in (one, two, through))
    for name in dict.fromkeys(first):
        if name in second and name not in got:
            yield f"the header {name!r} was dropped, or is spelled otherwise"
    for name in dict.fromkeys(got):
        if name not in first and name not in second:
            yield f"the header {name!r} was added"
    if first == second and sorted(got) == sorted(first) and got != first:
        yield "the order of the headers was changed"
    for name in sorted(_STEADY):
        values = one.value(name), two.value(name)
        if values[0] == values[1] and through.value(name) not in values:
            yield f"the header {name!r} has another value"


def _shapes(answer: Message) -> list[str]:
    """The keys of each JSON value in an answer; alike neighbours once."""
    pieces = _DATA.findall(answer.body) or [answer.body]
    return [shape for shape, _ in groupby(_shape(piece) for piece in pieces)]


def _shape(piece: bytes) -> str:
    try:
        return _keys(json.loads(piece))
    except ValueError:
        return piece[:16].decode("latin-1")


def _keys(value: JSON) -> str:
    match value:
        case dict():
            return "{" + ",".join(f"{key}:{_keys(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + (_keys(value[0]) if value else "") + "]"
        case _:
            return "."


def _model(answer: _Answer) -> str | None:
    """The first model of a list."""
    if isinstance(answer, str) or answer.status != 200:
        return None
    try:
        name = json.loads(answer.body)["data"][0]["id"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    return name if isinstance(name, str) else None
