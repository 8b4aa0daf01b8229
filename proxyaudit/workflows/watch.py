"""Watch a recording while it is made: status, alarms, events and metrics.

All of it happens in one thread that a bounded queue feeds. Traffic never waits for it: what does
not fit is left out, and counted.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

from proxyaudit.capture.queue import Sink
from proxyaudit.core.exchange import Exchange
from proxyaudit.engine.watch import Alert, Seen, Watcher

log = logging.getLogger("proxyaudit.watch")

# Exchanges, and bytes of bodies, that may wait. Over half of it, rules over replies are left out.
MOST, ROOM = 2048, 128 * 1024 * 1024
# A body is parsed in one piece, for which everything else in the process has to wait.
LARGE = 8 * 1024 * 1024
# Seconds between two looks at the status.
_TICK = 0.25


class Listener(Protocol):
    """Somebody who wants to know. Called from the watch's thread, one call at a time."""

    def alerted(self, alert: Alert) -> None:
        """A finding; `again` if it was told before."""
        ...

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        """An exchange has ended."""
        ...

    def tick(self) -> None:
        """Some time has passed."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...


class Watch:
    """A sink that looks at exchanges in a thread of its own.

    `missed` counts exchanges that were not looked at: too many at a time, or too large. `lost` and
    `unwritten` count lines of the recording, see `written_by`.
    """

    def __init__(
        self,
        watcher: Watcher,
        listeners: Sequence[Listener] = (),
        *,
        most: int = MOST,
        room: int = ROOM,
        large: int = LARGE,
    ) -> None:
        self._watcher = watcher
        self._listeners = list(listeners)
        self._most, self._room, self._large = most, room, large
        self._queue: SimpleQueue[tuple[str, Exchange, int] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._bytes = 0
        self._ticked = 0.0
        self.missed = 0
        self.lost: Callable[[], int] = lambda: 0
        self.unwritten: Callable[[], int] = lambda: 0
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    @property
    def waiting(self) -> int:
        """How many requests and ends are waiting to be looked at."""
        return self._queue.qsize()

    def written_by(self, lost: Callable[[], int], unwritten: Callable[[], int]) -> None:
        """Who knows how many lines of the recording were lost, and how many are waiting."""
        self.lost, self.unwritten = lost, unwritten

    def listen(self, listener: Listener) -> None:
        """One more listener, before the start."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def request(self, exchange: Exchange) -> None:
        """A request is complete."""
        self._put("request", exchange)

    def response(self, exchange: Exchange) -> None:
        """An exchange has ended."""
        self._put("response", exchange)

    def close(self, patience: float = 10.0) -> None:
        """Look at what is waiting, for `patience` seconds at most, and close the listeners."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join(patience)
        for listener in self._listeners:
            self._call(listener.close)

    def _put(self, phase: str, exchange: Exchange) -> None:
        size = _size(exchange)
        with self._lock:
            fits = self._queue.qsize() < self._most and self._bytes + size <= self._room
            if not fits:
                self.missed += 1
                return
            self._bytes += size
        self._queue.put((phase, exchange, size))

    def _run(self) -> None:
        while True:
            try:
                job = self._queue.get(timeout=_TICK)
            except Empty:
                self._tick()
                continue
            if job is None:
                return
            self._look(*job)
            self._tick()

    def _look(self, phase: str, exchange: Exchange, size: int) -> None:
        with self._lock:
            self._bytes -= size
            busy = self._bytes * 2 > self._room or self._queue.qsize() * 2 > self._most
        try:
            self._judge(phase, exchange, size, busy)
        except Exception:
            self.missed += 1
            self._watcher.lose(exchange.id)
            log.exception("an exchange was not watched; its recording was not touched")

    def _judge(self, phase: str, exchange: Exchange, size: int, busy: bool) -> None:
        if phase == "request":
            if size <= self._large:
                self._tell(self._watcher.begin(exchange))
            return
        seen: list[Seen] = []
        if size <= self._large:
            seen, alerts = self._watcher.end(exchange, quick=busy)
            self._tell(alerts)
        else:
            self.missed += 1
            self._watcher.lose(exchange.id)
        for listener in self._listeners:
            self._call(partial(listener.ended, exchange, seen))

    def _tell(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            for listener in self._listeners:
                self._call(partial(listener.alerted, alert))

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._ticked < _TICK:
            return
        self._ticked = now
        for listener in self._listeners:
            self._call(listener.tick)

    def _call(self, tell: Callable[[], None]) -> None:
        """One listener that fails must not cost the others their news."""
        try:
            tell()
        except Exception:
            log.exception("somebody who watches did not hear the news")


class Both:
    """A sink for two: the watch first, so that an alarm does not wait for the disk."""

    def __init__(self, watch: Sink, writer: Sink) -> None:
        self._watch, self._writer = watch, writer

    def request(self, exchange: Exchange) -> None:
        with suppress(Exception):
            self._watch.request(exchange)
        self._writer.request(exchange)

    def response(self, exchange: Exchange) -> None:
        with suppress(Exception):
            self._watch.response(exchange)
        self._writer.response(exchange)


def _size(exchange: Exchange) -> int:
    answered = len(exchange.response.body) if exchange.response else 0
    spoken = sum(len(message.data) for message in exchange.websocket or ())
    return len(exchange.request.body) + answered + spoken
