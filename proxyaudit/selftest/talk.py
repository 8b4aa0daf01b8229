"""Both ends of a websocket, by wsproto: the upstream's echo, and the client that listens to it."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Message, Ping, TextMessage
from wsproto.utilities import ProtocolError

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_READ = 1 << 16
KEY = b"cHJveHlhdWRpdCBzZWxmdA=="  # any 16 bytes will do


def accept_line(key: str) -> bytes:
    """The header that accepts a websocket asked for with this key (RFC 6455, section 4.2.2)."""
    digest = hashlib.sha1((key + _GUID).encode(), usedforsecurity=False).digest()
    return b"Sec-WebSocket-Accept: " + base64.b64encode(digest)


async def echo(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: list[str | bytes]
) -> None:
    """Send every message back, and note it, until the peer closes."""
    end = _End(ConnectionType.SERVER, reader, writer)
    async for message in end:
        heard.append(message)
        end.send(message)


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    messages: Sequence[str | bytes],
    echoed: list[str | bytes],
    rest: bytes,
) -> None:
    """Send one message after the other, each when the one before has come back, and close.

    `rest` are bytes that came behind the head of the answer.
    """
    end = _End(ConnectionType.CLIENT, reader, writer, rest)
    left = list(messages)
    end.send(left.pop(0))
    async for message in end:
        echoed.append(message)
        if not left:
            end.close()
            return
        end.send(left.pop(0))


class _End:
    """One end of a websocket; iterating gives whole messages, until the other end closes."""

    def __init__(
        self,
        kind: ConnectionType,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        rest: bytes = b"",
    ) -> None:
        self._connection = Connection(kind)
        self._reader, self._writer, self._rest = reader, writer, rest
        self._parts: list[str | bytes] = []
        self._closed = False

    def send(self, data: str | bytes) -> None:
        message = TextMessage(data) if isinstance(data, str) else BytesMessage(data)
        self._writer.write(self._connection.send(message))

    def close(self) -> None:
        self._writer.write(self._connection.send(CloseConnection(code=1000)))

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while not self._closed:
            data = self._rest or await self._reader.read(_READ)
            self._rest = b""
            if not data:
                return
            self._connection.receive_data(data)
            for message in self._messages():
                yield message

    def _messages(self) -> Iterator[str | bytes]:
        try:
            for event in self._connection.events():
                yield from self._message(event)
        except ProtocolError:
            self._closed = True

    def _message(self, event: Event) -> Iterator[str | bytes]:
        match event:
            case Message():
                self._parts.append(event.data)
                if event.message_finished:
                    parts, self._parts = self._parts, []
                    texts = [part for part in parts if isinstance(part, str)]
                    yield "".join(texts) if texts else b"".join(map(bytes, parts))  # type: ignore[arg-type]
            case Ping() | CloseConnection():
                self._closed = isinstance(event, CloseConnection)
                self._writer.write(self._connection.send(event.response()))
