"""The recorder as users run it, in a process of its own: it shall not share a core with us."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from proxyaudit.core.errors import UserError

_COMMAND = (sys.executable, "-m", "proxyaudit.cli.main", "record")
_START, _END = 60.0, 30.0


@dataclass(slots=True)
class Recorder:
    """A recorder at work on loopback; `folder` is its recording."""

    port: int
    folder: Path
    process: asyncio.subprocess.Process

    async def stop(self) -> None:
        """What Ctrl-C does: everything is written when this returns."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(_END):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def recorder(upstream: str, scratch: Path, name: str = "selftest") -> AsyncIterator[Recorder]:
    """Run `proxyaudit record` before an upstream. Raises UserError where it does not start."""
    port, log = _free_port(), scratch / f"{name}.err"
    words = ("--upstream", upstream, "--listen", f"127.0.0.1:{port}")
    with log.open("wb") as err:
        process = await asyncio.create_subprocess_exec(
            *(*_COMMAND, *words, "--recordings", str(scratch), "--name", name),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=err,
            env={k: v for k, v in os.environ.items() if not k.startswith("PROXYAUDIT_")},
            cwd=scratch,
        )
    running = Recorder(port, scratch / name, process)
    try:
        await _until_it_listens(running, log)
        yield running
    finally:
        await running.stop()


async def _until_it_listens(running: Recorder, log: Path) -> None:
    try:
        async with asyncio.timeout(_START):
            while running.process.returncode is None:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", running.port)
                    writer.close()
                    return
                await asyncio.sleep(0.05)
    except TimeoutError:
        pass
    said = (await asyncio.to_thread(log.read_text, "utf-8", "replace")).strip().splitlines()
    raise UserError("the recorder does not start" + (f": {said[0]}" if said else ""))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
