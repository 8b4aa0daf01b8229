"""`proxyaudit record` and the other commands, as programs of their own."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real.processes import (
    Finished,
    Running,
    finish,
    free_port,
    listens,
    plain_environment,
    running,
    wait_until,
)

from proxyaudit.core.exchange import Exchange, Tap
from proxyaudit.store.read import open_recording

PROXYAUDIT = Path(sys.executable).with_name("proxyaudit")


@dataclass
class Recorder:
    """A recorder at work. `url` is the client tap, a root URL; `folder` is its recording."""

    url: str
    folder: Path
    program: Running

    def stop(self) -> Finished:
        """Ctrl-C, and what it says then."""
        return self.program.interrupt()

    def exchanges(self, tap: Tap) -> list[Exchange]:
        """What one tap has seen, in order of start."""
        return [e for e in open_recording(self.folder).exchanges if e.tap == tap]


@contextmanager
def recorder(
    folder: Path, upstream: str, *, backend: str | None = None, upstream_port: int | None = None
) -> Iterator[Recorder]:
    """A recorder before `upstream`, and with `backend` a second tap on `upstream_port`."""
    port = free_port()
    command: list[str | Path] = [PROXYAUDIT, "record", "--upstream", upstream]
    command += ["--listen", f"127.0.0.1:{port}", "--recordings", folder, "--name", "session"]
    ports = [port]
    if backend is not None and upstream_port is not None:
        command += ["--backend", backend, "--backend-listen", f"127.0.0.1:{upstream_port}"]
        ports.append(upstream_port)
    with running(command, folder / "log", env=plain_environment(HOME=folder)) as program:
        wait_until(lambda: all(map(listens, ports)), program)
        yield Recorder(f"http://127.0.0.1:{port}", folder / "session", program)


def proxyaudit(folder: Path, *words: str | Path, seconds: float = 60) -> Finished:
    """Run a command of proxyaudit to its end."""
    env = plain_environment(HOME=folder, COLUMNS="100")
    return finish([PROXYAUDIT, *words], folder / "log", env=env, seconds=seconds)


def audited(recorder: Recorder) -> tuple[int, dict[str, Any]]:
    """The exit code of an audit, and its one report."""
    done = proxyaudit(recorder.folder.parent, "audit", recorder.folder, "--format", "json")
    assert done.code in (0, 1), done
    [report] = json.loads(done.out)["reports"]
    return done.code, report
