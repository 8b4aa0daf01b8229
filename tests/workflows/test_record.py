"""Recording as a workflow: taps, counts, and mistakes that leave nothing behind."""

import asyncio
import json
import shutil
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from loopback import plain, raw, serving, then_close
from tapped import SSE_HEAD, chunked, connected, eventually, post

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.store.read import open_recording
from proxyaudit.workflows.record import Setup, Summary, Taps, record, refused

TURN = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
ANSWER = plain(
    json.dumps(
        {
            "id": "c",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "hello"},
                    "finish_reason": "stop",
                }
            ],
        }
    ).encode()
)


async def recorded(
    setup: Setup,
    play: Callable[[Taps], Awaitable[None]],
    *,
    on_trouble: Callable[[Exception], None] = lambda _: None,
    wait_for: int = 0,
) -> Summary:
    """Record while `play` plays, until `wait_for` exchanges have ended."""
    stop, ended = asyncio.Event(), list[Exchange]()
    opened: asyncio.Future[Taps] = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(
            record(
                setup,
                stop=stop,
                on_open=opened.set_result,
                on_exchange=ended.append,
                on_trouble=on_trouble,
            )
        )
        await play(await opened)
        await eventually(lambda: len(ended) >= wait_for)
        stop.set()
    return running.result()


async def ask(url: str, body: bytes = TURN, path: bytes = b"/v1/chat/completions") -> bytes:
    async with connected(int(url.rsplit(":", 1)[1])) as client:
        await client.send(post(body, path=path))
        return (await client.answer())[1]


def test_two_taps_one_recording(tmp_path: Path) -> None:
    """Both taps write to one recording; turns and other requests are counted apart."""

    async def run() -> Summary:
        async with serving(ANSWER) as proxy, serving(ANSWER) as backend:
            setup = Setup(proxy.url, tmp_path / "r", backend.url)

            async def play(taps: Taps) -> None:
                assert taps.upstream is not None
                await ask(taps.client)
                await ask(taps.upstream)
                await ask(taps.client, b"", b"/favicon.ico")

            return await recorded(setup, play, wait_for=3)

    summary = asyncio.run(run())
    assert dict(summary.exchanges) == {"client": 2, "upstream": 1}
    assert dict(summary.turns) == {"client": 1, "upstream": 1}
    assert sum(summary.other.values()) == 1
    assert dict(summary.ends) == {"complete": 3}
    assert summary.lost == 0
    recording = open_recording(tmp_path / "r")
    assert [e.tap for e in recording.exchanges] == ["client", "upstream", "client"]
    assert recording.flaws == ()


def test_ends_are_counted(tmp_path: Path) -> None:
    """A cut stream and a stream that goes on at the end are told apart in the summary."""

    async def going_on(writer: asyncio.StreamWriter) -> None:
        writer.write(SSE_HEAD + chunked(b"data: 1\n\n"))
        await asyncio.sleep(30)

    async def run() -> Summary:
        cut = then_close(raw(SSE_HEAD + chunked(b"data: 1\n\n")))
        async with serving(cut, going_on) as server, AsyncExitStack() as clients:

            async def play(taps: Taps) -> None:
                port = int(taps.client.rsplit(":", 1)[1])
                async with connected(port) as client:
                    await client.send(post(TURN))
                    await client.rest()
                # This one stays until the recorder has gone.
                client = await clients.enter_async_context(connected(port))
                await client.send(post(TURN))
                await client.head()
                await client.chunk()

            return await recorded(Setup(server.url, tmp_path / "r"), play, wait_for=1)

    summary = asyncio.run(run())
    assert dict(summary.ends) == {"upstream_eof": 1, "recorder_stopped": 1}
    ends = [e.end for e in open_recording(tmp_path / "r").exchanges]
    assert ends == ["upstream_eof", "recorder_stopped"]


def test_lost_folder_is_trouble_of_the_recorder_alone(tmp_path: Path) -> None:
    """The recording is deleted under way: traffic goes on, the loss is counted and said once."""
    trouble: list[Exception] = []

    async def run() -> Summary:
        async with serving(ANSWER) as server:

            async def play(taps: Taps) -> None:
                await ask(taps.client)
                shutil.rmtree(tmp_path / "r")
                for _ in range(2):
                    assert b"hello" in await ask(taps.client)

            setup = Setup(server.url, tmp_path / "r")
            return await recorded(setup, play, on_trouble=trouble.append, wait_for=3)

    summary = asyncio.run(run())
    assert summary.exchanges["client"] == 3
    assert summary.lost >= 4
    assert len(trouble) == 1
    assert summary.problem is trouble[0]


def test_mistakes_leave_no_recording(tmp_path: Path) -> None:
    """A wrong URL, a busy port, a circle: said before the folder is made."""

    async def run(setup: Setup) -> None:
        await record(setup, stop=asyncio.Event())

    with socket.create_server(("127.0.0.1", 0)) as busy:
        address = busy.getsockname()
        there = f"http://127.0.0.1:{address[1]}"
        for setup in (
            Setup("no-url", tmp_path / "r"),
            Setup(there, tmp_path / "r", backend="ftp://x"),
            Setup(there, tmp_path / "r", listen=address),
            Setup("http://127.0.0.1:9", tmp_path / "r", backend=there, backend_listen=address),
        ):
            with pytest.raises(UserError) as caught:
                asyncio.run(run(setup))
            assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_no_recording(tmp_path: Path) -> None:
    """A folder with other things in it is not written to."""
    (tmp_path / "notes.txt").write_text("mine")

    async def run() -> None:
        await record(Setup("http://127.0.0.1:9", tmp_path), stop=asyncio.Event())

    with pytest.raises(UserError, match="other files"):
        asyncio.run(run())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_that_refuses_is_known_beforehand(host: str) -> None:
    """By a connection alone: one that is accepted is closed without a byte."""

    async def run() -> tuple[bool, bytes]:
        got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.set_result(await reader.read())
            writer.close()

        async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await refused(f"http://{host}:{port}/v1"), await got

    assert asyncio.run(run()) == (False, b"")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert asyncio.run(refused(f"http://{host}:{port}/v1")) is True


def test_silence_and_impossible_names_are_no_refusal() -> None:
    """A listener whose queue is full says nothing at all."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        assert asyncio.run(refused(url, patience=0.1)) is False
    assert asyncio.run(refused(f"http://{'x' * 64}.invalid")) is False
