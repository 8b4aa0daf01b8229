"""A small mitmproxy of our own, inside the running event loop.

Half the CPU of the stock tool, which dispatches every hook to three dozen addons. One process has
one mitmproxy (its context is global), with as many listeners as there are routes; a second one
needs a process of its own.
"""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from proxyaudit.capture.upstream import checked_upstream, shown_host
from proxyaudit.core.errors import UserError

if TYPE_CHECKING:
    from mitmproxy.master import Master

# A prefill may keep silent for long; mitmproxy's own default closes a connection after 600 s.
SILENCE = 24 * 3600
# The context of mitmproxy is global: a second host in this process would take over the first.
_hosting = False


@dataclass(frozen=True, slots=True)
class Route:
    """Listen on an address and send what comes on to `upstream` (a URL, perhaps with a path).

    `listen_port` 0 takes a free port. `addon` is an addon for this route alone.
    """

    upstream: str
    listen_host: str = "127.0.0.1"
    listen_port: int = 0
    addon: object | None = None


class Host:
    """Runs mitmproxy inside the current event loop while the context is open.

    `ports` are the listening ports, in the order of the routes. `addons` see all routes, in their
    order, and requests as the client sent them: `Host` and the path are aimed at the upstream
    after the last addon's `requestheaders`. Taps speak plain HTTP; an upstream may use TLS.
    At the end connections are closed and addons with a method `stopping` are told so before.
    As in any mitmproxy, a response is held back to its end unless an addon streams it.

    Raises:
        UserError: an address is taken, an upstream URL cannot be used or is one of these
            listeners, or another host is open in this process.
    """

    def __init__(self, routes: Sequence[Route], addons: Sequence[object] = ()) -> None:
        self._routes = [(route, checked_upstream(route.upstream)) for route in routes]
        self._addons = list(addons)
        self.ports: list[int] = []
        self._master: Master | None = None
        self._running: asyncio.Task[None] | None = None
        self._level = logging.NOTSET

    def add(self, addon: object) -> None:
        """One more addon for all routes, before the start."""
        self._addons.append(addon)

    def urls(self) -> list[str]:
        """The base URL of each listener."""
        return [
            f"http://{shown_host(route.listen_host)}:{port}"
            for (route, _), port in zip(self._routes, self.ports, strict=True)
        ]

    def reserve(self) -> list[int]:
        """Fix the ports before the start, for those who have to know them first."""
        if not self.ports:
            taken: list[socket.socket] = []
            try:
                for route, _ in self._routes:
                    taken.append(_bound(route.listen_host, route.listen_port))
                self.ports = [bound.getsockname()[1] for bound in taken]
            finally:
                for bound in taken:
                    bound.close()
            self._refuse_circles()
        return self.ports

    def _refuse_circles(self) -> None:
        listeners = [(r.listen_host, p) for (r, _), p in zip(self._routes, self.ports, strict=True)]
        for route, upstream in self._routes:
            if any(upstream.is_at(host, port) for host, port in listeners):
                raise UserError(
                    f"{route.upstream} is the address of the recorder itself",
                    "name the server that requests are to be sent on to",
                )

    async def __aenter__(self) -> Self:
        global _hosting
        if _hosting:
            raise UserError("another proxy is open in this process", "close it first")
        self.reserve()
        _hosting = True
        try:
            await self._start()
        except BaseException:
            await self._stop()
            _hosting = False
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _hosting
        try:
            await self._stop()
        finally:
            _hosting = False

    async def _start(self) -> None:
        from proxyaudit.capture.master import ForPort, small_master

        self._quiet()
        ready = _Ready()
        pairs = list(zip(self._routes, self.ports, strict=True))
        own = [ForPort(port, r.addon) for (r, _), port in pairs if r.addon is not None]
        self._master = small_master(
            [*self._addons, *own, ready],
            {port: upstream for (_, upstream), port in pairs},
            [self._mode(number) for number in range(len(pairs))],
            SILENCE,
        )
        self._running = asyncio.ensure_future(self._master.run())
        waiting = asyncio.ensure_future(ready.event.wait())
        await asyncio.wait({self._running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        self._check_listening()

    def _check_listening(self) -> None:
        servers = list(_proxyserver(self._master).servers)
        failed = [server for server in servers if not server.is_running]
        if failed or len(servers) < len(self._routes):
            reason = next((str(s.last_exception) for s in failed if s.last_exception), "unknown")
            raise UserError(f"cannot listen: {reason}", "choose another port")

    def _mode(self, number: int) -> str:
        (route, upstream), port = self._routes[number], self.ports[number]
        target = f"{upstream.scheme}://{shown_host(upstream.host)}:{upstream.port}"
        return f"reverse:{target}@{shown_host(route.listen_host)}:{port}"

    def _quiet(self) -> None:
        """mitmproxy logs each connection; only what went wrong inside it shall be heard."""
        logger = logging.getLogger("mitmproxy")
        self._level = logger.level
        logger.setLevel(logging.ERROR)

    async def _stop(self) -> None:
        master, running = self._master, self._running
        self._master = self._running = None
        if master is not None and running is not None:
            for addon in self._addons:
                if callable(stopping := getattr(addon, "stopping", None)):
                    stopping()
            await _close_connections(master)
            master.shutdown()
            await asyncio.wait({running}, timeout=10)
        logging.getLogger("mitmproxy").setLevel(self._level)


async def _close_connections(master: "Master") -> None:
    """Stop listening, then end what is open, so that nothing goes on unseen."""
    server = _proxyserver(master)
    await server.servers.update([])
    for handler in list(server.connections.values()):
        for io in list(handler.transports.values()):
            # To cancel what is closing already would stop it before it has closed its socket.
            if io.handler is not None and not io.handler.cancelling():
                io.handler.cancel("the recorder stops")
    for _ in range(50):
        if not server.connections:
            break
        await asyncio.sleep(0.01)


def _proxyserver(master: "Master | None") -> Any:
    return master.addons.get("proxyserver") if master else None


class _Ready:
    """Says when mitmproxy runs."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def running(self) -> None:
        self.event.set()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen()
    except OSError as error:
        bound.close()
        raise UserError(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            "something else listens there: choose another port, or 0 for a free one",
        ) from None
    except OverflowError:
        bound.close()
        raise UserError(f"not a port: {port}", "ports go from 0 to 65535") from None
    return bound
