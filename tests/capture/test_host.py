"""Our small mitmproxy: what it listens on, where it sends things, and what it leaves behind."""

import asyncio
import logging
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loopback import plain, serving
from tapped import Kept, connected, post

from proxyaudit.capture.host import Host, Route
from proxyaudit.capture.recorder import Recorder
from proxyaudit.core.errors import UserError

if TYPE_CHECKING:
    from mitmproxy import http


async def asked(port: int, path: bytes = b"/v1/x") -> tuple[bytes, bytes]:
    async with connected(port) as client:
        await client.send(post(path=path))
        return await client.answer()


def test_two_taps_in_one_process() -> None:
    """Two listeners, two upstreams, one recorder that tells them apart by port."""
    kept = Kept()

    async def run() -> list[bytes]:
        async with serving(plain(b"one")) as one, serving(plain(b"two")) as two:
            host = Host([Route(one.url), Route(two.url)])
            first, second = host.reserve()
            recorder = Recorder(kept, taps={first: "client", second: "upstream"})
            host.add(recorder)
            async with host:
                assert host.ports == [first, second]
                assert host.urls() == [f"http://127.0.0.1:{port}" for port in host.ports]
                got = [(await asked(port))[1] for port in host.ports]
            recorder.close()
            return got

    assert asyncio.run(run()) == [b"one", b"two"]
    assert [(e.tap, e.response and e.response.body) for e in kept.responses] == [
        ("client", b"one"),
        ("upstream", b"two"),
    ]


class Shouts:
    """An addon that changes answers."""

    def response(self, flow: "http.HTTPFlow") -> None:
        if flow.response and flow.response.content:
            flow.response.content = flow.response.content.upper()


class ShoutsLater:
    """The same, in a hook that awaits."""

    async def response(self, flow: "http.HTTPFlow") -> None:
        await asyncio.sleep(0)
        Shouts().response(flow)


@pytest.mark.parametrize("addon", [Shouts(), ShoutsLater()])
def test_addon_of_one_route(addon: object) -> None:
    """It sees its own listener only, whether its hooks await or not."""

    async def run() -> list[bytes]:
        async with serving(plain(b"hello")) as server:
            routes = [Route(server.url, addon=addon), Route(server.url)]
            async with Host(routes) as host:
                return [(await asked(port))[1] for port in host.ports]

    assert asyncio.run(run()) == [b"HELLO", b"hello"]


def test_addons_without_a_recorder() -> None:
    """Any addon can be hosted."""

    async def run() -> bytes:
        async with (
            serving(plain(b"hello")) as server,
            Host([Route(server.url)], [Shouts()]) as host,
        ):
            return (await asked(host.ports[0]))[1]

    assert asyncio.run(run()) == b"HELLO"


@pytest.mark.parametrize(
    ("prefix", "path"),
    [("", b"/v1/x"), ("/v1", b"/v1/x"), ("/api", b"/api/v1/x"), ("/api/v1/", b"/api/v1/x")],
)
def test_path_prefix(prefix: str, path: bytes) -> None:
    """The path of the upstream's URL comes before the client's, its version not doubled."""

    async def run() -> bytes:
        async with serving(plain(b"{}")) as server, Host([Route(server.url + prefix)]) as host:
            await asked(host.ports[0])
            return server.heads[0].split(b" ")[1]

    assert asyncio.run(run()) == path


def test_request_without_host() -> None:
    """HTTP/1.0 does without `Host`; none is added."""

    async def run() -> bytes:
        async with serving(plain(b"{}")) as server, Host([Route(server.url)]) as host:
            async with connected(host.ports[0]) as client:
                await client.send(b"GET /v1/models HTTP/1.0\r\n\r\n")
                await client.answer()
            return server.heads[0]

    assert asyncio.run(run()) == b"GET /v1/models HTTP/1.0\r\n\r\n"


def test_busy_port() -> None:
    """A port in use is said before anything is opened."""

    async def run(port: int) -> None:
        async with Host([Route("http://127.0.0.1:9", listen_port=port)]):
            raise AssertionError("not reached")

    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(UserError, match=f"cannot listen on 127.0.0.1:{port}") as caught:
            asyncio.run(run(port))
    assert "another port" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70000), ("203.0.113.1", 0), ("nowhere.invalid", 0)]
)
def test_address_that_cannot_be_had(host: str, port: int) -> None:
    """No such port, or no such address on this machine."""
    with pytest.raises(UserError):
        Host([Route("http://127.0.0.1:9", host, port)]).reserve()


def test_port_taken_between_reserve_and_start() -> None:
    """Somebody else was faster: an error of the user's kind, and the next host can start."""

    async def run() -> None:
        host = Host([Route("http://127.0.0.1:9")])
        (port,) = host.reserve()
        with (
            socket.create_server(("127.0.0.1", port)),
            pytest.raises(UserError, match="cannot listen"),
        ):
            await host.__aenter__()
        async with Host([Route("http://127.0.0.1:9", listen_port=port)]) as later:
            assert later.ports == [port]

    asyncio.run(run())


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_circle(name: str) -> None:
    """A tap whose upstream is a tap would ask itself for ever."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    routes = [Route("http://127.0.0.1:9"), Route(f"http://{name}:{port}/v1", listen_port=port)]
    with pytest.raises(UserError, match="the recorder itself"):
        Host(routes).reserve()


def test_one_host_at_a_time() -> None:
    """mitmproxy's context is global: a second host is refused, the first goes on, a third may come."""

    async def run() -> list[bytes]:
        async with serving(plain(b"{}")) as server:
            async with Host([Route(server.url)]) as first:
                with pytest.raises(UserError, match="another proxy is open"):
                    await Host([Route(server.url)]).__aenter__()
                got = [(await asked(first.ports[0]))[1]]
            async with Host([Route(server.url)]) as third:
                got.append((await asked(third.ports[0]))[1])
        return got

    assert asyncio.run(run()) == [b"{}", b"{}"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Log levels and handlers, the loop's settings, the port and the home are as before."""
    monkeypatch.setenv("HOME", str(tmp_path))

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def state() -> list[object]:
            levels = [logging.getLogger(name).level for name in ("", "mitmproxy")]
            handlers = list(logging.getLogger().handlers)
            return [*levels, handlers, loop.get_task_factory(), loop.get_exception_handler()]

        before = state()
        async with serving(plain(b"{}")) as server, Host([Route(server.url)]) as host:
            await asked(host.ports[0])
        assert state() == before
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        assert [task for task in tasks if not task.done()] == []
        with socket.create_server(("127.0.0.1", host.ports[0])):
            pass

    asyncio.run(run())
    assert list(tmp_path.iterdir()) == []


def test_upstream_with_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An https upstream behind a plain tap, trusted by SSL_CERT_FILE, and not without it."""
    from cryptography import x509
    from mitmproxy import certs

    store = certs.CertStore.from_store(tmp_path, "ca", 2048)
    entry = store.get_cert("localhost", [x509.DNSName("localhost")])
    (tmp_path / "cert.pem").write_bytes(entry.cert.to_pem() + store.default_ca.to_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "ca-ca.pem")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await plain(b"private")(writer)
        writer.close()

    async def run() -> tuple[bytes, bytes]:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        async with server, Host([Route(f"https://localhost:{port}")]) as host:
            return await asked(host.ports[0])

    trusted = store.default_ca.to_pem()
    (tmp_path / "trusted.pem").write_bytes(trusted)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
    assert asyncio.run(run())[1] == b"private"
    monkeypatch.delenv("SSL_CERT_FILE")
    assert b" 502 " in asyncio.run(run())[0]
