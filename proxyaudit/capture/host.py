"""A small mitmproxy of our own: only the addons that a reverse proxy needs.

Half the CPU of the stock tool, which dispatches every hook to three dozen addons. One process has
one mitmproxy (its context is global), with as many listeners as there are routes.
"""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from proxyaudit.core.errors import UserError

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.master import Master

# A prefill may keep silent for long; mitmproxy's own default closes a connection after 600 s.
_SILENCE = 24 * 3600
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

    `ports` are the listening ports, in the order of the routes. `addons` see all routes.

    Raises:
        UserError: an address is taken, an upstream URL cannot be used, or another host is open
            in this process.
    """

    def __init__(self, routes: Sequence[Route], addons: Sequence[object] = ()) -> None:
        self._routes = [(route, checked_upstream(route.upstream)) for route in routes]
        self._addons = list(addons)
        self.ports: list[int] = []
        self._master: Master | None = None
        self._running: asyncio.Task[None] | None = None

    def add(self, addon: object) -> None:
        """One more addon for all routes, before the start."""
        self._addons.append(addon)

    def urls(self) -> list[str]:
        """The base URL of each listener."""
        return [
            f"http://{_shown(route.listen_host)}:{port}"
            for (route, _), port in zip(self._routes, self.ports, strict=True)
        ]

    def reserve(self) -> list[int]:
        """Fix the ports before the start, for those who have to know them first."""
        if not self.ports:
            taken: list[socket.socket] = []
            try:
                for route, _ in self._routes:
                    taken.append(_bound(route.listen_host, route.listen_port))
                    self.ports.append(taken[-1].getsockname()[1])
            finally:
                for bound in taken:
                    bound.close()
        return self.ports

    async def __aenter__(self) -> Self:
        global _hosting
        if _hosting:
            raise UserError("another proxy is open in this process", "close it first")
        self.reserve()
        _hosting = True
        try:
            await self._start()
        except BaseException:
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
        from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
        from mitmproxy.master import Master
        from mitmproxy.options import Options

        quiet_mitmproxy()
        master = Master(Options(), event_loop=asyncio.get_running_loop())
        server = proxyserver.Proxyserver()
        own = [_ForPort(p, r.addon) for (r, _), p in zip(self._routes, self.ports, strict=True)]
        master.addons.add(
            core.Core(),
            server,
            next_layer.NextLayer(),
            tlsconfig.TlsConfig(),
            *self._addons,
            *(addon for addon in own if addon.addon is not None),
            _Prefixes({p: u.path for (_, u), p in zip(self._routes, self.ports, strict=True)}),
        )
        master.options.update(
            mode=[self._spec(n) for n in range(len(self._routes))],
            connection_strategy="lazy",
            tcp_timeout=_SILENCE,
            validate_inbound_headers=False,
        )
        self._master = master
        ready = _Ready()
        master.addons.add(ready)
        self._running = asyncio.ensure_future(master.run())
        await asyncio.wait(
            {self._running, asyncio.ensure_future(ready.event.wait())},
            return_when=asyncio.FIRST_COMPLETED,
        )
        failed = [s for s in server.servers if not s.is_running]
        if failed or len(server.servers) < len(self._routes):
            reason = next((str(s.last_exception) for s in failed if s.last_exception), "unknown")
            await self._stop()
            raise UserError(f"cannot listen: {reason}", "choose another port")

    def _spec(self, number: int) -> str:
        (route, upstream), port = self._routes[number], self.ports[number]
        host = f"{_shown(upstream.host)}:{upstream.port}"
        return f"reverse:{upstream.scheme}://{host}@{_shown(route.listen_host)}:{port}"

    async def _stop(self) -> None:
        if self._master is None or self._running is None:
            return
        for addon in self._addons:
            if callable(stopping := getattr(addon, "stopping", None)):
                stopping()
        await _close_connections(self._master)
        self._master.shutdown()
        await asyncio.wait({self._running}, timeout=10)
        self._master = self._running = None


async def _close_connections(master: "Master") -> None:
    """Stop listening, then end what is open, so that nothing goes on unseen."""
    server: Any = master.addons.get("proxyserver")
    await server.servers.update([])
    for handler in list(server.connections.values()):
        for io in list(handler.transports.values()):
            if io.handler is not None:
                io.handler.cancel("the recorder stops")
    for _ in range(50):
        if not server.connections:
            break
        await asyncio.sleep(0.01)


class _Ready:
    """Says when mitmproxy runs."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def running(self) -> None:
        self.event.set()


class _ForPort:
    """Lets an addon see the flows of one listener only."""

    HOOKS = ("requestheaders", "request", "responseheaders", "response", "error")

    def __init__(self, port: int, addon: object | None) -> None:
        self._port, self.addon = port, addon
        for name in self.HOOKS:
            if callable(getattr(addon, name, None)):
                setattr(self, name, self._only_mine(getattr(addon, name)))

    def _only_mine(self, hook: Any) -> Any:
        def seen(flow: "http.HTTPFlow") -> None:
            if flow.client_conn.sockname[1] == self._port:
                hook(flow)

        return seen


class _Prefixes:
    """Puts the path of an upstream URL in front of the client's. Has to be the last addon."""

    def __init__(self, paths: dict[int, str]) -> None:
        self._paths = {port: path for port, path in paths.items() if path}

    def requestheaders(self, flow: "http.HTTPFlow") -> None:
        prefix = self._paths.get(flow.client_conn.sockname[1])
        if prefix:
            flow.request.path = joined_path(prefix, flow.request.path)


def joined_path(prefix: str, path: str) -> str:
    """`/api` and `/v1/x` give `/api/v1/x`; `/api/v1` and `/v1/x` too: an ending that the path
    begins with is not doubled, nor is a prefix that is there already."""
    prefix = prefix.rstrip("/")
    if path == prefix or path.startswith((f"{prefix}/", f"{prefix}?")):
        return path
    last = prefix.rsplit("/", 1)[-1]
    if path == f"/{last}" or path.startswith(f"/{last}/"):
        return prefix + path[len(last) + 1 :]
    return prefix + path


@dataclass(frozen=True, slots=True)
class Upstream:
    """An upstream URL taken apart. `path` has no slash at its end."""

    scheme: str
    host: str
    port: int
    path: str


def checked_upstream(url: str) -> Upstream:
    """Take an upstream URL apart, or say what is wrong with it."""
    hint = "give a URL such as http://127.0.0.1:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"not a URL: {url!r} ({error})", hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"not an http(s) URL: {url!r}", hint)
    if parts.query or parts.fragment or parts.username:
        raise UserError(f"a URL with more than host, port and path: {url!r}", hint)
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    return Upstream(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def quiet_mitmproxy() -> None:
    """mitmproxy logs each connection at info; only what matters shall be heard."""
    logging.getLogger("mitmproxy").setLevel(logging.CRITICAL)


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


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
