"""Record at one tap or two, until asked to stop."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from proxyaudit.capture.host import Host, Route
from proxyaudit.capture.recorder import Recorder
from proxyaudit.capture.upstream import checked_upstream
from proxyaudit.core.exchange import Exchange, Tap
from proxyaudit.core.json import JSON
from proxyaudit.dialects.glance import glance
from proxyaudit.dialects.read import NotATurn
from proxyaudit.store.find import remove_if_empty
from proxyaudit.store.write import RecordingWriter
from proxyaudit.workflows.watch import Both, Watch


@dataclass(frozen=True, slots=True)
class Setup:
    """What to listen on and where to send it.

    `upstream` is the proxy that the harness used so far (or the server, with one tap); `backend`
    the server behind the proxy, for the second tap. Addresses are (host, port), port 0 is free.
    """

    upstream: str
    folder: Path
    backend: str | None = None
    listen: tuple[str, int] = ("127.0.0.1", 0)
    backend_listen: tuple[str, int] = ("127.0.0.1", 0)


@dataclass(frozen=True, slots=True)
class Taps:
    """The base URLs of the open taps."""

    client: str
    upstream: str | None = None


@dataclass(slots=True)
class Summary:
    """What was recorded. `turns` counts exchanges that are requests to a language model."""

    folder: Path
    exchanges: Counter[Tap] = field(default_factory=Counter)
    turns: Counter[Tap] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    other: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    problem: Exception | None = None

    def add(self, exchange: Exchange) -> None:
        self.exchanges[exchange.tap] += 1
        self.ends[exchange.end] += 1
        seen = glance(exchange)
        if isinstance(seen, NotATurn):
            self.other[seen.reason] += 1
        else:
            self.turns[exchange.tap] += 1


async def record(
    setup: Setup,
    *,
    stop: asyncio.Event,
    on_open: Callable[[Taps], None] = lambda _: None,
    on_exchange: Callable[[Exchange], None] = lambda _: None,
    on_trouble: Callable[[Exception], None] = lambda _: None,
    watch: Watch | None = None,
) -> Summary:
    """Record until `stop` is set, and write everything to `setup.folder`.

    `on_open` is called when the taps are open; `on_exchange` after each exchange that ended, and
    `on_trouble` once if the disk fails, both from the writer's thread. `watch` is fed with all that
    is recorded; its caller starts and closes it.

    Raises UserError if an address is taken or a URL cannot be used.
    """
    routes = [_route(setup.upstream, setup.listen)]
    taps: list[Tap] = ["client"]
    if setup.backend is not None:
        routes.append(_route(setup.backend, setup.backend_listen))
        taps.append("upstream")
    # The ports first: a mistake shall leave no empty recording behind.
    host = Host(routes)
    ports = host.reserve()
    summary = Summary(setup.folder)
    writer = RecordingWriter(setup.folder, about=_about(setup), created=time.time())

    def ended(exchange: Exchange) -> None:
        summary.add(exchange)
        on_exchange(exchange)

    recorder = Recorder(
        Both(watch, writer) if watch else writer,
        taps=dict(zip(ports, taps, strict=True)),
        on_end=ended,
        on_trouble=on_trouble,
    )
    if watch:
        watch.written_by(lambda: recorder.thread.lost, lambda: recorder.thread.waiting)
    host.add(recorder)
    try:
        async with host:
            urls = host.urls()
            on_open(Taps(urls[0], urls[1] if len(urls) > 1 else None))
            await stop.wait()
    finally:
        recorder.close()
        writer.close()
        if not summary.exchanges:
            remove_if_empty(setup.folder)
        summary.lost, summary.problem = recorder.thread.lost, recorder.thread.problem
    return summary


async def refused(url: str, patience: float = 0.5) -> bool:
    """Whether nobody listens where a URL points: its port refuses a connection right now.

    One that is accepted is closed at once. No answer within `patience` seconds, or a name that is
    not known, is no refusal. Raises UserError for a URL that cannot be used.
    """
    upstream = checked_upstream(url)
    try:
        async with asyncio.timeout(patience):
            _, writer = await asyncio.open_connection(upstream.host, upstream.port, all_errors=True)
    except ExceptionGroup as tried:
        # A name may stand for several addresses.
        return all(isinstance(error, ConnectionRefusedError) for error in tried.exceptions)
    except (OSError, ValueError):  # also a name that cannot be one
        return False
    writer.close()
    return False


def _route(upstream: str, listen: tuple[str, int]) -> Route:
    return Route(upstream, listen[0], listen[1])


def _about(setup: Setup) -> dict[str, JSON]:
    about: dict[str, JSON] = {"upstream": setup.upstream}
    if setup.backend is not None:
        about["backend"] = setup.backend
    return about
