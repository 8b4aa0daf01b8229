"""The whole job on embedded parts: record an agent through a proxy that forgets, audit, replay.

Scripted agent → client tap → faulty proxy → upstream tap → scripted backend. The sockets are real,
and so are the recorder and the proxy: the latter is mitmdump with the addon of `demo.faults`, in a
process of its own, as a proxy would be.
"""

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from proxyaudit.core.replay import ReplayResult
from proxyaudit.core.report import Report
from proxyaudit.demo.agent import AgentLog, run_agent
from proxyaudit.demo.backend import Backend
from proxyaudit.demo.faults import entry
from proxyaudit.demo.story import demo_script
from proxyaudit.engine import audit
from proxyaudit.store.read import open_recording
from proxyaudit.store.write import RecordingWriter
from proxyaudit.workflows.record import Setup, Taps, record
from proxyaudit.workflows.replay import replay
from proxyaudit.workflows.replay_plan import Selection

_START = "from mitmproxy.tools.main import mitmdump; mitmdump()"
# A first start on a slow machine compiles mitmproxy's modules.
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """What the demo did: the agent's log, the report, and the last turn replayed directly."""

    log: AgentLog
    folder: Path
    report: Report
    numbers: dict[str, int]
    replayed: ReplayResult
    replay_folder: Path


async def demonstrate(
    fault: str, folder: Path, *, on_step: Callable[[str], None] = lambda _: None
) -> Demonstrated:
    """Run the demo with one fault, recording to `folder` and to its neighbour `…-replay`.

    Raises RuntimeError if the faulty proxy does not start.
    """
    async with Backend(demo_script) as backend:
        on_step("recording an agent that is asked seven times, through two taps and a proxy")
        log = await _recorded(fault, folder, backend.url)
        on_step("auditing the recording")
        recording = open_recording(folder)
        audited = audit(recording)
        on_step("replaying the last turn straight to the backend")
        main = max(audited.conversations, key=lambda c: len(c.turns))
        target = folder.with_name(f"{folder.name}-replay")
        replayed = await replay(
            recording,
            backend.url,
            open_writer=lambda: RecordingWriter(target, about={"replay_of": str(folder)}),
            selection=Selection(main.id, len(main.turns)),
            conversations=audited.conversations,
            pairs=audited.pairs,
        )
    return Demonstrated(log, folder, audited.report, audited.numbers, replayed, target)


async def _recorded(fault: str, folder: Path, backend: str) -> AgentLog:
    """Record one session of the agent; both taps are open before it begins."""
    port, upstream_port = free_ports(2)
    stop = asyncio.Event()
    opened: asyncio.Future[Taps] = asyncio.get_running_loop().create_future()
    setup = Setup(
        f"http://127.0.0.1:{port}",
        folder,
        backend,
        backend_listen=("127.0.0.1", upstream_port),
    )
    proxy = faulty_proxy(fault, f"http://127.0.0.1:{upstream_port}", port)
    async with proxy, asyncio.TaskGroup() as group:
        group.create_task(record(setup, stop=stop, on_open=opened.set_result))
        try:
            taps = await opened
            return await run_agent(f"{taps.client}/v1")
        finally:
            stop.set()


@asynccontextmanager
async def faulty_proxy(
    fault: str, upstream: str, port: int, script: Path | None = None
) -> AsyncIterator[None]:
    """mitmdump with a fault, listening on `port`; `script` takes the place of our own addon."""
    with tempfile.TemporaryDirectory(prefix="proxyaudit-") as scratch:
        arguments = (
            *("-q", "-s", str(script or entry.__file__), "--set", f"fault={fault}"),
            *("--set", f"confdir={scratch}", "--mode", f"reverse:{upstream}@127.0.0.1:{port}"),
        )
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _START,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            await _listening(process, port)
            yield
        finally:
            if process.returncode is None:
                process.terminate()
            await process.communicate()


async def _listening(process: asyncio.subprocess.Process, port: int) -> None:
    """Wait until the proxy takes connections."""
    async with asyncio.timeout(_PATIENCE):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
    output = (await process.communicate())[0].decode("utf-8", "replace")
    raise RuntimeError(f"the faulty proxy did not start: {output[-500:]}")


def free_ports(number: int) -> list[int]:
    """Ports of loopback that nobody listens on, all different."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
