"""Between the proxy's event loop and the disk: a queue and one thread.

Nothing is written inside a hook: the client would wait for the disk. If writing fails, traffic goes
on; the loss is counted and said once. The queue has no limit: a disk that cannot keep up costs
memory, never the client's time.
"""

import logging
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from proxyaudit.core.exchange import Exchange

log = logging.getLogger("proxyaudit.recorder")

# A thread that computes gives way to another after 5 ms by default. For that long each event of a
# stream could wait for the writer; measured, this takes the slowest percent from 15 ms to 5.
SWITCH_INTERVAL = 0.0003


class Sink(Protocol):
    """Where exchanges go: a recording's writer, for one."""

    def request(self, exchange: Exchange) -> None:
        """The request is complete; the response is still to come."""
        ...

    def response(self, exchange: Exchange) -> None:
        """The exchange has ended, one way or another."""
        ...


class SinkThread:
    """Feeds a sink from a thread of its own.

    `on_trouble` is called once, from that thread, with the first error of the sink. `on_written`
    is called after each exchange that ended, written or not. `lost` counts lines not written.
    From the first line to `close` there is a thread, and Python's threads take turns more often
    (`SWITCH_INTERVAL`, in seconds).
    """

    def __init__(
        self,
        sink: Sink,
        *,
        on_trouble: Callable[[Exception], None] | None = None,
        on_written: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._sink = sink
        self._trouble = on_trouble
        self._written = on_written
        self.lost = 0
        self.problem: Exception | None = None
        self._lines: SimpleQueue[tuple[str, Callable[[], Exchange]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="recording", daemon=True)
        self._interval = 0.0

    @property
    def waiting(self) -> int:
        """How many lines are waiting to be written."""
        return self._lines.qsize()

    def put(self, phase: str, build: Callable[[], Exchange]) -> None:
        """Queue a line; `build` makes the exchange in the writer's thread, off the event loop."""
        if not self._interval:
            self._interval = sys.getswitchinterval()
            sys.setswitchinterval(min(self._interval, SWITCH_INTERVAL))
            self._thread.start()
        self._lines.put((phase, build))

    def close(self) -> None:
        """Write what is queued, and end the thread; once more does nothing."""
        if self._thread.is_alive():
            self._lines.put(None)
            self._thread.join()
            sys.setswitchinterval(self._interval)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            exchange = self._write(*line)
            if exchange is not None and line[0] == "response":
                self._call(self._written, exchange)

    def _write(self, phase: str, build: Callable[[], Exchange]) -> Exchange | None:
        exchange = None
        try:
            exchange = build()
            if phase == "request":
                self._sink.request(exchange)
            else:
                self._sink.response(exchange)
        except Exception as error:
            self._failed(error)
        return exchange

    def _failed(self, error: Exception) -> None:
        self.lost += 1
        if self.problem is None:
            self.problem = error
            self._call(self._trouble, error)

    def _call[T](self, listener: Callable[[T], None] | None, news: T) -> None:
        """Tell a listener; one that fails has not lost us a line, nor may it end this thread."""
        try:
            if listener:
                listener(news)
        except Exception:
            log.exception("what the recorder had to say was not heard; recording goes on")
