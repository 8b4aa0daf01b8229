"""The recorder as an addon in a mitmdump of the user's own, as a process."""

import asyncio
import signal
import socket
import sys
from pathlib import Path

import pytest
from loopback import raw, serving
from tapped import LAST, SSE_HEAD, chunked, connected, eventually, post

import proxyaudit.capture.addon
from proxyaudit.store.read import open_recording

SCRIPT = Path(__file__).parents[2] / "addons" / "recorder.py"
START = "from mitmproxy.tools.main import mitmdump; mitmdump()"


async def mitmdump(script: Path, upstream: str, home: Path, *options: str) -> tuple[bytes, str]:
    """What the client got, and what mitmdump said, told to end after one request."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", START, "-s", str(script), "--set", f"confdir={home / 'conf'}"),
        *(*options, "--mode", f"reverse:{upstream}@127.0.0.1:{port}"),
        cwd=home,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        await eventually(lambda: process.returncode is not None or _listens(port))
        async with connected(port) as client:
            await client.send(
                post(b'{"model": "m"}', b"Authorization: Bearer sk-secret-1234567890")
            )
            await client.head()
            got = b"".join(await client.chunks())
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        said = (await process.communicate())[0].decode()
    return got, said


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("script", "options"),
    [
        (SCRIPT, ()),
        (Path(proxyaudit.capture.addon.__file__), ("--set", "recording=deep/monday")),
    ],
    ids=["from a clone", "from the package"],
)
def test_recorder_in_mitmdump(script: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    """It records to the folder asked for, or to recordings/ and the time, and streams."""

    async def run() -> tuple[bytes, str]:
        answer = raw(SSE_HEAD, chunked(b"data: 1\n\n"), chunked(b"data: 2\n\n"), LAST)
        async with serving(answer) as server:
            return await mitmdump(script, server.url, tmp_path, *options)

    got, said = asyncio.run(run())
    assert got == b"data: 1\n\ndata: 2\n\n", said
    (folder,) = tmp_path.glob("deep/*" if options else "recordings/*")
    assert f"recording to {folder.relative_to(tmp_path)}" in said
    (exchange,) = open_recording(folder).exchanges
    assert exchange.request.body == b'{"model": "m"}'
    assert exchange.response is not None
    assert exchange.response.body == got
    assert exchange.end == "complete"
    assert "sk-secret" not in repr(exchange)


def test_no_traffic_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder that saw nothing leaves no empty recording behind."""
    from proxyaudit.capture.addon import StandaloneRecorder

    monkeypatch.chdir(tmp_path)
    recorder = StandaloneRecorder()
    recorder.done()
    assert list(tmp_path.iterdir()) == []
