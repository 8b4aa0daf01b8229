"""A proxy of a few lines for tests: bytes in, bytes out, with one thing that it does wrong."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from proxyaudit.selftest.visit import Address

type Change = Callable[[bytes], bytes]


def untouched(data: bytes) -> bytes:
    return data


@dataclass(frozen=True)
class Vice:
    """What a relay does wrong. `request` and `response` change each read; the rest are habits.

    `hoards`: nothing of an answer is passed on before the last chunk. `last_words`: what it adds
    when the upstream goes away. `clings`: it does not tell the upstream that the client has left.
    `patient`: seconds for which a client waits where the upstream refuses a connection.
    """

    request: Change = untouched
    response: Change = untouched
    hoards: bool = False
    last_words: bytes = b""
    clings: bool = False
    patient: float = 0.0


@asynccontextmanager
async def relay(port: int, vice: Vice) -> AsyncIterator[Address]:
    """The address of a relay before a port of loopback."""
    tasks: set[asyncio.Task[None]] = set()

    async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            with suppress(OSError):
                await _joined(port, vice, reader, writer)
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(joined, "127.0.0.1", 0)
    try:
        yield Address("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _joined(
    port: int, vice: Vice, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        there, back = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        await asyncio.sleep(vice.patient)
        return
    try:
        asking = asyncio.ensure_future(_ask(vice, reader, back))
        answering = asyncio.ensure_future(_answer(vice, there, writer))
        both = {asking, answering}
        wanted = asyncio.ALL_COMPLETED if vice.clings else asyncio.FIRST_COMPLETED
        try:
            await asyncio.wait(both, return_when=wanted)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
    finally:
        back.close()


async def _ask(vice: Vice, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 18):
        back.write(vice.request(data))
        await back.drain()


async def _answer(vice: Vice, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    held = b""
    while data := await there.read(1 << 18):
        held += vice.response(data)
        if vice.hoards and not held.endswith(b"0\r\n\r\n"):
            continue
        writer.write(held)
        held = b""
        with suppress(OSError):
            await writer.drain()
    writer.write(held + vice.last_words)
    with suppress(OSError):
        await writer.drain()
