"""The client: one connection, the rounds of a script one after the other, every byte as written."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from proxyaudit.selftest.live import Live
from proxyaudit.selftest.message import Message
from proxyaudit.selftest.script import HOST, PREFIX, ROUND
from proxyaudit.selftest.talk import converse

_READ = 1 << 18


@dataclass(frozen=True, slots=True)
class Address:
    """Where the client connects to. `prefix` is the path of the URL, without a slash at its end."""

    host: str
    port: int
    prefix: str = ""

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


async def visit(address: Address, rounds: Sequence[Live]) -> None:
    """Play the client's part of the rounds; what happens is noted in them."""
    try:
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=1 << 22)
    except OSError as error:
        for live in rounds:
            live.failed = f"no connection: {error.strerror or error}"
        return
    try:
        for live in rounds:
            if not await _play(live, address, reader, writer):
                break
    finally:
        writer.close()


async def _play(
    live: Live, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> bool:
    """Whether the connection can be used for another round."""
    try:
        await _ask(live, address, reader, writer)
        if live.round.leaves_at is not None:
            await _leave(live, reader, writer)
        else:
            await _read_to_end(live, reader)
            if live.round.messages and live.got.complete:
                await _converse(live, reader, writer)
    except OSError:
        live.client_lost("reset")
    await _upstream_is_done(live)
    return live.got.complete and not live.hung


async def _ask(
    live: Live, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    head = live.round.head.replace(ROUND, live.name.encode(), 1)
    head = head.replace(HOST, address.authority.encode(), 1)
    head = head.replace(PREFIX, address.prefix.encode(), 1)
    live.asked_at = time.perf_counter()
    live.sent.feed(head)
    writer.write(head)
    if live.round.asks_first:
        while not live.got.interim and not live.got.head_done:
            if not await _read(live, reader):
                return
    for piece in live.round.body:
        live.sent.feed(piece)
        writer.write(piece)
        await writer.drain()


async def _read_to_end(live: Live, reader: asyncio.StreamReader) -> None:
    while not live.got.complete and await _read(live, reader):
        pass


async def _read(live: Live, reader: asyncio.StreamReader) -> bool:
    """Read once; False at the end of the connection, or where nothing comes any more."""
    try:
        async with asyncio.timeout(live.deadline):
            data = await reader.read(_READ)
    except TimeoutError:
        live.hung = True
        return False
    except OSError:
        live.client_lost("reset")
        return False
    if not data:
        live.client_lost("fin")
        return False
    live.client_got(data)
    return True


async def _leave(live: Live, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Go away in the middle of it all."""
    try:
        async with asyncio.timeout(live.deadline):
            await live.arrived.wait()
    except TimeoutError:
        live.hung = True
    wanted = live.round.leaves_at or 0
    while live.got.received < wanted and not live.got.complete:
        if not await _read(live, reader):
            break
    writer.close()


async def _converse(live: Live, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    answer = live.got.message()
    if not _is_accepted(answer):
        return
    assert answer is not None
    try:
        async with asyncio.timeout(live.deadline):
            await converse(reader, writer, live.round.messages, live.echoed, answer.surplus)
    except TimeoutError:
        live.hung = True


def _is_accepted(answer: Message | None) -> bool:
    return answer is not None and answer.status == 101


async def _upstream_is_done(live: Live) -> None:
    """The upstream may still be noting how the client left."""
    if live.arrived.is_set():
        try:
            async with asyncio.timeout(live.deadline + live.timing.patience):
                await live.done.wait()
        except TimeoutError:
            live.hung = True
