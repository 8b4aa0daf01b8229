"""The recorder's own trouble, and other addons beside it: nothing of it reaches the traffic."""

import asyncio
import base64
import hashlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from loopback import raw
from tapped import LAST, SSE_HEAD, Client, Kept, chunked, connected, eventually, post, tapped

from proxyaudit.capture.recorder import Recorder
from proxyaudit.core.exchange import Exchange, WebSocketMessage

if TYPE_CHECKING:
    from mitmproxy import http

PIECES = [b"data: 1\n\n", b"data: 2\n\n"]
STREAM = raw(SSE_HEAD, *map(chunked, PIECES), LAST)


async def streamed(sink: Any, **options: Any) -> list[bytes]:
    """What a client gets of a stream of two chunks."""
    async with tapped(STREAM, sink=sink, **options) as here, connected(here.port) as client:
        await client.send(post())
        await client.head()
        return await client.chunks()


class FullDisk:
    """A sink that cannot write."""

    def request(self, exchange: Exchange) -> None:
        raise OSError(28, "No space left on device")

    def response(self, exchange: Exchange) -> None:
        raise OSError(28, "No space left on device")


def test_full_disk_is_said_once_and_counted() -> None:
    """The client gets everything; the loss is counted, the trouble said once."""
    told: list[Exception] = []
    ended: list[Exchange] = []

    async def run() -> Recorder:
        options: dict[str, Any] = {"on_trouble": told.append, "on_end": ended.append}
        async with tapped(STREAM, sink=FullDisk(), **options) as here:
            for _ in range(2):
                async with connected(here.port) as client:
                    await client.send(post())
                    await client.head()
                    assert await client.chunks() == PIECES
        return here.recorder

    recorder = asyncio.run(run())
    assert recorder.thread.lost == 4
    assert [str(error) for error in told] == ["[Errno 28] No space left on device"]
    assert len(ended) == 2


class SlowDisk(Kept):
    """A sink that does not come back until it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def request(self, exchange: Exchange) -> None:
        self.go.wait()
        super().request(exchange)


def test_slow_disk_costs_the_client_nothing() -> None:
    """The client has its whole answer while the first line still waits for the disk."""
    disk = SlowDisk()

    async def run() -> None:
        async with tapped(STREAM, sink=disk) as here, connected(here.port) as client:
            await client.send(post())
            await client.head()
            assert await client.chunks() == PIECES
            assert disk.requests == []
            disk.go.set()

    asyncio.run(run())
    assert disk.only.end == "complete"


def test_listener_that_fails_is_no_loss() -> None:
    """Whoever is told about exchanges may fail; the lines are written all the same."""
    kept = Kept()

    def closed_terminal(_: Exchange) -> None:
        raise BrokenPipeError

    assert asyncio.run(streamed(kept, on_end=closed_terminal)) == PIECES
    assert kept.only.end == "complete"


@pytest.mark.parametrize("broken", ["_on_requestheaders", "_on_request", "_on_responseheaders"])
def test_hook_that_fails_leaves_the_traffic_alone(
    broken: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug in the recorder is a log line; the client's bytes are what they would be."""

    def bug(self: Recorder, flow: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Recorder, broken, bug)
    with caplog.at_level(logging.ERROR, "proxyaudit.recorder"):
        assert b"".join(asyncio.run(streamed(Kept()))) == b"".join(PIECES)
    assert "the recorder lost an event" in caplog.text


def test_note_that_fails_does_not_swallow_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """mitmproxy would drop a chunk whose tap raises."""
    from proxyaudit.capture.live import Live

    def bug(self: Live, data: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr(Live, "piece", bug)
    assert asyncio.run(streamed(Kept())) == PIECES


class Streams:
    """Another addon that sets what streams a response."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def responseheaders(self, flow: "http.HTTPFlow") -> None:
        if flow.response:
            flow.response.stream = self.stream


def louder(data: bytes) -> bytes:
    return data.upper()


@pytest.mark.parametrize(
    ("stream", "got"), [(True, PIECES), (louder, [piece.upper() for piece in PIECES])]
)
def test_addon_before_the_recorder(stream: Any, got: list[bytes]) -> None:
    """Another addon's streaming works on; recorded is what came from upstream."""
    kept = Kept()
    assert asyncio.run(streamed(kept, before=[Streams(stream)])) == got
    assert kept.only.response is not None
    assert kept.only.response.body == b"".join(PIECES)
    assert kept.only.end == "complete"


def test_addon_that_takes_the_body_away() -> None:
    """A body that the recorder was kept from is never recorded as an empty one that is complete."""
    kept = Kept()
    assert asyncio.run(streamed(kept, after=[Streams(True)])) == PIECES
    assert kept.only.end == "error"
    assert "another addon took over the body" in (kept.only.error or "")


class Answers:
    """An addon that answers itself."""

    def request(self, flow: "http.HTTPFlow") -> None:
        from mitmproxy import http

        flow.response = http.Response.make(418, b"short and stout")


def test_answer_made_by_another_addon() -> None:
    """It never came from upstream, and the client got it: it is recorded."""
    kept = Kept()

    async def run() -> tuple[bytes, bytes]:
        async with (
            tapped(STREAM, sink=kept, after=[Answers()]) as here,
            connected(here.port) as client,
        ):
            await client.send(post())
            return await client.answer()

    assert asyncio.run(run())[1] == b"short and stout"
    assert kept.only.response is not None
    assert kept.only.response.status == 418
    assert kept.only.response.body == b"short and stout"


class Viewer:
    """What a viewer such as mitmweb sees of a flow that has ended."""

    def __init__(self) -> None:
        self.seen: list[bytes | None] = []

    def response(self, flow: "http.HTTPFlow") -> None:
        self.seen.append(flow.response.raw_content if flow.response else None)


@pytest.mark.parametrize(("keep", "seen"), [(True, b"".join(PIECES)), (False, None)])
def test_bodies_are_put_back_for_viewers(keep: bool, seen: bytes | None) -> None:
    """And not sent twice."""
    viewer = Viewer()
    assert asyncio.run(streamed(Kept(), keep_bodies=keep, after=[viewer])) == PIECES
    assert viewer.seen == [seen]


def test_replayed_flows_are_not_recorded() -> None:
    """What mitmproxy itself sends again is no traffic of the agent."""
    from mitmproxy.test import tflow

    kept = Kept()
    recorder = Recorder(kept)
    flow = tflow.tflow(resp=True)
    flow.is_replay = "request"
    hooks: list[Callable[[Any], None]] = [
        recorder.requestheaders,
        recorder.request,
        recorder.responseheaders,
        recorder.response,
    ]
    for hook in hooks:
        hook(flow)
    recorder.close()
    assert (kept.requests, kept.responses) == ([], [])


def test_ports_that_are_no_taps_are_not_recorded() -> None:
    """A listener beside the taps is none of the recorder's business."""
    kept = Kept()
    assert b"".join(asyncio.run(streamed(kept, taps={1: "client"}))) == b"".join(PIECES)
    assert (kept.requests, kept.responses) == ([], [])


KEY = base64.b64encode(b"sixteen bytes...")
ACCEPT = base64.b64encode(hashlib.sha1(KEY + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
UPGRADE = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: tap\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + KEY + b"\r\n\r\n"
)
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Accept: " + ACCEPT + b"\r\n\r\n"
)


def frame(kind: int, data: bytes, mask: bool = False) -> bytes:
    """A short websocket frame; a client's is masked (with zeros: the bytes stay readable)."""
    return bytes((0x80 | kind, len(data) | (0x80 if mask else 0))) + bytes(4 * mask) + data


async def upgraded(client: Client) -> None:
    await client.send(UPGRADE)
    assert b" 101 " in await client.head()


def test_websocket_messages_are_recorded() -> None:
    """Text and binary, both directions, in order, with times."""
    kept = Kept()

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCHED)
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(frame(1, "hé".encode()) + frame(2, b"\x00\xff"))
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(frame(8, b"\x03\xe8"))

    async def run() -> bytes:
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await upgraded(client)
            await client.send(frame(1, b'{"q": 1}', mask=True))
            got = await client.reader.readexactly(len(frame(1, "hé".encode()) + frame(2, b"ab")))
            await eventually(lambda: kept.responses)
            return got

    assert asyncio.run(run()) == frame(1, "hé".encode()) + frame(2, b"\x00\xff")
    messages = kept.only.websocket
    assert messages is not None
    assert {(m.sender, m.data) for m in messages} == {
        ("client", '{"q": 1}'),
        ("server", "hé"),
        ("server", b"\x00\xff"),
    }
    assert all(isinstance(m, WebSocketMessage) and m.at > 0 for m in messages)
    assert kept.only.response is not None
    assert kept.only.response.status == 101
    assert kept.only.end == "complete"


def test_websocket_that_the_client_drops() -> None:
    """A connection that ends without a closing frame is an abort."""
    kept = Kept()

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCHED + frame(1, b"hello"))
        await asyncio.sleep(30)

    async def run() -> None:
        async with tapped(answer, sink=kept) as here:
            async with connected(here.port) as client:
                await upgraded(client)
                assert await client.reader.readexactly(7) == frame(1, b"hello")
            await eventually(lambda: kept.responses)

    asyncio.run(run())
    assert kept.only.end == "client_abort"
    assert [m.data for m in kept.only.websocket or ()] == ["hello"]


def test_upgrade_to_something_else() -> None:
    """A 101 that is no websocket ends with its headers; what follows is not HTTP."""
    kept = Kept()
    other = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n"

    async def run() -> bytes:
        async with tapped(raw(other), sink=kept) as here, connected(here.port) as client:
            await client.send(UPGRADE.replace(b"websocket", b"other"))
            head = await client.head()
            await eventually(lambda: kept.responses)
            return head

    assert b" 101 " in asyncio.run(run())
    assert kept.only.end == "complete"
    assert kept.only.response is not None
    assert kept.only.response.status == 101
