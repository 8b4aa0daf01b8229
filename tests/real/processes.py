"""Programs that a test starts: each in a process group of its own, ended by that group alone."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Finished(NamedTuple):
    """How a program ended, and all that it said."""

    code: int
    out: str
    err: str


class Running:
    """A program in the background; what it says goes to two files in `folder`.

    It works in `work`, by default the same folder. `env` is its whole environment.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        folder: Path,
        *,
        work: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = Path(command[0]).name
        self._out, self._err = folder / f"{self.name}.out", folder / f"{self.name}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=None if env is None else dict(env),
                cwd=work or folder,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """All that it said so far, on both channels."""
        return self._out.read_text("utf-8", "replace") + self._err.read_text("utf-8", "replace")

    def wait(self, seconds: float) -> Finished:
        """Wait for its end; raises `TimeoutExpired` after so long."""
        code = self.process.wait(seconds)
        out, err = (path.read_text("utf-8", "replace") for path in (self._out, self._err))
        return Finished(code, out, err)

    def interrupt(self, seconds: float = 15) -> Finished:
        """What Ctrl-C in its terminal would do."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.wait(seconds)

    def end(self) -> None:
        """Make sure that nothing of it is left."""
        for sign, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if self.process.poll() is not None:
                return
            os.killpg(self.process.pid, sign)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def running(
    command: Sequence[str | Path],
    folder: Path,
    *,
    work: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """A program for as long as the context is open."""
    program = Running(command, folder, work=work, env=env)
    try:
        yield program
    finally:
        program.end()


def finish(
    command: Sequence[str | Path],
    folder: Path,
    *,
    work: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = 60,
) -> Finished:
    """Run a program to its end; one that takes longer is killed and fails the test."""
    with running(command, folder, work=work, env=env) as program:
        try:
            return program.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{program.name}: no end in {seconds} s\n{program.said}") from None


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_until(ready: Callable[[], bool], program: Running, seconds: float = 30) -> None:
    """Wait for a program to be ready; its words tell why it is not."""
    deadline = time.monotonic() + seconds
    while not ready():
        if program.process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"{program.name} is not ready:\n{program.said}")
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether somebody accepts connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def plain_environment(**more: str | Path) -> dict[str, str]:
    """A small environment: no proxy settings, no configuration of the user's."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {"LANG": "C.UTF-8", **kept, **{name: str(value) for name, value in more.items()}}
