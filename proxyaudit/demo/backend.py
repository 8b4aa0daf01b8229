"""A scripted inference server: raw HTTP/1.1, keep-alive, one chunk for each event."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

from proxyaudit.demo import anthropic, chat
from proxyaudit.demo.http1 import Head, Headers, chunk, read_body, read_head, response_head
from proxyaudit.demo.script import Body, Script

LARGEST_HEAD = 256 * 1024

_JSON = ("content-type", "application/json")
_SSE = (("content-type", "text/event-stream"), ("cache-control", "no-cache"))


@dataclass(slots=True)
class Received:
    """A request as it arrived; `answered` once the whole reply was written."""

    head: Head
    body: bytes = b""
    answered: bool = False

    @property
    def method(self) -> str:
        return self.head.first.split(" ")[0]

    @property
    def path(self) -> str:
        """The path without its query."""
        return self.head.first.split(" ")[1].partition("?")[0]

    @property
    def raw(self) -> bytes:
        """Head and body, the body without its transfer encoding."""
        return self.head.raw + self.body


class Answer(NamedTuple):
    """A status with an object to send as JSON, or with events to send one by one."""

    status: int
    value: Body | None = None
    events: Iterator[bytes] | None = None


class Backend:
    """Serves a script on loopback while the context is open.

    `port` 0 takes a free one. `gap` is the pause before each event of a stream, in seconds.
    `key` is the bearer token (or x-api-key) that a request must carry; None asks for none.
    `received` holds every request since the start.
    """

    def __init__(
        self,
        script: Script,
        *,
        port: int = 0,
        gap: float = 0.01,
        key: str | None = None,
        models: tuple[str, ...] = ("demo-model",),
    ) -> None:
        self.received: list[Received] = []
        self._script, self._gap, self._key, self._models = script, gap, key, models
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The root, without /v1."""
        assert self._server, "the backend is not open"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self._port, limit=LARGEST_HEAD
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server
        self._server.close()
        # Idle keep-alive connections would otherwise hold the server open for ever.
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while (head := await read_head(reader)) and head.first.count(" ") == 2:
                    request = Received(head)
                    self.received.append(request)
                    request.body = await read_body(reader, head)
                    await self._answer(writer, self._decide(request))
                    request.answered = True
                    if not head.keeps_open:
                        break
        finally:
            writer.close()

    def _decide(self, request: Received) -> Answer:
        sent = (request.head.get("authorization"), request.head.get("x-api-key"))
        if self._key and sent[0] != f"Bearer {self._key}" and sent[1] != self._key:
            return Answer(401, chat.error(401, "missing or wrong API key"))
        match request.method, request.path:
            case "GET", "/v1/models":
                data = [{"id": m, "object": "model", "owned_by": "demo"} for m in self._models]
                return Answer(200, {"object": "list", "data": data})
            case "POST", "/v1/chat/completions":
                return self._speak(request.body, chat)
            case "POST", "/v1/messages":
                return self._speak(request.body, anthropic)
        return Answer(404, chat.error(404, f"no such route: {request.method} {request.path}"))

    def _speak(self, raw: bytes, dialect: chat.Wire) -> Answer:
        try:
            body = json.loads(raw)
        except ValueError as e:
            return Answer(400, dialect.error(400, f"the body is not JSON: {e}"))
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return Answer(400, dialect.error(400, "the body is no object with messages"))
        reply = self._script(dialect.as_chat(body))
        if body.get("stream"):
            return Answer(200, events=dialect.stream(body, reply))
        return Answer(200, dialect.plain(body, reply))

    async def _answer(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.events is None:
            data = chat.dumps(answer.value)
            headers: Headers = (_JSON, ("content-length", str(len(data))))
            writer.write(response_head(answer.status, headers) + data)
            await writer.drain()
            return
        writer.write(response_head(answer.status, (*_SSE, ("transfer-encoding", "chunked"))))
        for event in answer.events:
            await asyncio.sleep(self._gap)
            writer.write(chunk(event))
            await writer.drain()
        writer.write(chunk(b""))
        await writer.drain()
