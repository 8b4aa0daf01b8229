"""Plays scripts: the upstream and the client in one event loop, the proxy between them or not."""

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proxyaudit.selftest.live import Live, Timing
from proxyaudit.selftest.script import ROUND, Pair, Round, Script, Seen
from proxyaudit.selftest.upstream import Upstream
from proxyaudit.selftest.visit import Address, visit


class Stage:
    """A scripted upstream that is open, and clients that go there by one way or another."""

    def __init__(self, host: str, port: int, timing: Timing) -> None:
        self._timing = timing
        self._live: dict[str, Live] = {}
        self._run = uuid.uuid4().hex[:8]
        self._numbers = itertools.count(1)
        self._upstream = Upstream(host, port, self._live.get)

    @property
    def direct(self) -> Address:
        """The address of the upstream itself."""
        return Address(self._upstream.host, self._upstream.port)

    async def play(self, script: Script, address: Address) -> tuple[Seen, ...]:
        """Play a script at an address: that of the upstream, or that of a proxy before it."""
        clients = [[self._new(r) for r in script.rounds] for _ in range(script.clients)]
        rounds = [live for client in clients for live in client]
        self._live.update((live.name, live) for live in rounds)
        if script.dark:
            await self._upstream.close()
        try:
            await asyncio.gather(*(visit(address, client) for client in clients))
        finally:
            if script.dark:
                await self._upstream.open()
        for live in rounds:
            del self._live[live.name]
        return tuple(live.seen() for live in rounds)

    def _new(self, round_: Round) -> Live:
        name = f"{self._run}-{next(self._numbers):05}"
        assert len(name) == len(ROUND)
        return Live(name, round_, self._timing)

    async def play_pair(self, script: Script, through: Address, *, swapped: bool = False) -> Pair:
        """Play it direct and through the proxy, one right after the other; `swapped`: it first."""
        if swapped:
            second = await self.play(script, through)
            return Pair(script, await self.play(script, self.direct), second)
        first = await self.play(script, self.direct)
        return Pair(script, first, await self.play(script, through))

    async def open(self) -> None:
        await self._upstream.open()

    async def close(self) -> None:
        await self._upstream.close()


@asynccontextmanager
async def stage(host: str, port: int, timing: Timing) -> AsyncIterator[Stage]:
    """A stage for as long as the context is open; port 0 takes a free one."""
    there = Stage(host, port, timing)
    await there.open()
    try:
        yield there
    finally:
        await there.close()
