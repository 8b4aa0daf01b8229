"""A round while it is played: both ends note here what they do and see."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from proxyaudit.selftest.message import Ending, Reader
from proxyaudit.selftest.script import AwaitRead, Long, Round, Seen


@dataclass(slots=True)
class Timing:
    """`patience`: seconds to wait for what should happen at once. `silence`: a long silence."""

    patience: float = 5.0
    silence: float = 1.5


@dataclass(slots=True)
class Live:
    """One round under way. The upstream waits here for the client to read."""

    name: str
    round: Round
    timing: Timing
    sent: Reader = field(default_factory=lambda: Reader(is_response=False))
    request: Reader = field(default_factory=lambda: Reader(is_response=False))
    stalled: int | None = None
    gone: bool | None = None
    connection: int = 0
    failed: str = ""
    hung: bool = False
    heard: list[str | bytes] = field(default_factory=list)
    echoed: list[str | bytes] = field(default_factory=list)
    asked_at: float = 0.0
    head_at: float = 0.0
    wrote: Reader = field(init=False)
    got: Reader = field(init=False)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _writes: list[tuple[float, int]] = field(default_factory=list)
    _reads: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wrote = Reader(is_response=True, bodiless=self.round.is_head)
        self.got = Reader(is_response=True, bodiless=self.round.is_head)

    @property
    def deadline(self) -> float:
        """Seconds without anything new after which the client gives up."""
        longs = sum(isinstance(step, Long) for step in self.round.answer)
        waits = any(isinstance(step, AwaitRead) for step in self.round.answer)
        patience = self.timing.patience * (2 if waits else 1)
        return patience + self.round.silence + longs * self.timing.silence

    def upstream_wrote(self, data: bytes) -> None:
        """The upstream is about to write this."""
        before = self.wrote.received
        self.wrote.feed(data)
        if self.wrote.received > before:
            self._writes.append((time.perf_counter(), self.wrote.received))

    def client_got(self, data: bytes) -> None:
        """The client has read this."""
        now, before = time.perf_counter(), self.got.received
        self.got.feed(data)
        if self.got.head_done and not self.head_at:
            self.head_at = now
        if self.got.received > before:
            self._reads.append((now, self.got.received))
        self._moved.set()

    def client_lost(self, ending: Ending) -> None:
        """The client's connection has ended."""
        self.got.end(ending)
        self._moved.set()

    async def all_read(self) -> None:
        """Wait for the client to have read all of the body; after the first stall, no more."""
        if self.stalled is not None:
            return
        try:
            async with asyncio.timeout(self.timing.patience):
                while self.got.received < self.wrote.received:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            self.stalled = self.wrote.received

    def seen(self) -> Seen:
        """All of it, when it is over."""
        return Seen(
            self.name,
            self.sent.message(),
            self.request.message(),
            self.wrote.message(),
            self.got.message(),
            self.stalled,
            self.gone,
            self.connection,
            self.failed,
            self.hung,
            tuple(self.heard),
            tuple(self.echoed),
            self.asked_at,
            self.head_at,
            tuple(at for at, _ in self._writes),
            tuple(self._read_times()),
        )

    def _read_times(self) -> Iterator[float]:
        """For each write of body bytes that was read in full: when that was."""
        reads = iter(self._reads)
        at, total = next(reads, (0.0, -1))
        for _, wanted in self._writes:
            while total < wanted:
                at, total = next(reads, (0.0, -1))
                if total < 0:
                    return
            yield at
