"""Run a command of the user's for each alarm.

Nothing of the traffic gets into the command line: the command is split once, as a shell would, and
run without a shell; the finding comes as JSON on its standard input, and in short in environment
variables.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from queue import Empty, Full, Queue

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Severity, at_least
from proxyaudit.engine.watch import Alert, Seen
from proxyaudit.report.live_alarm import alarm_environment, alarm_json

_WAITING = 100
TIMEOUT = 30.0
LAST = 5.0


def command_words(command: str) -> list[str]:
    """A command line in words. Raises UserError if it has none, or there is no such program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"not a command: {command!r}: {error}", "close the quote") from None
    if not words or shutil.which(words[0]) is None:
        raise UserError(
            f"no such program: {words[0] if words else command!r}",
            "name a program on the PATH; for pipes and the like use: sh -c '…'",
        )
    return words


class AlarmCommand:
    """One at a time, in a thread of its own, each for `timeout` seconds at most.

    `say` is told, once, of a command that failed. Alarms that come too fast are left out, and
    counted in `skipped`.
    """

    def __init__(
        self,
        words: Sequence[str],
        recording: str,
        level: Severity,
        say: Callable[[str], None],
        timeout: float = TIMEOUT,
    ) -> None:
        self._words, self._recording, self._level = list(words), recording, level
        self._say, self._timeout = say, timeout
        self.skipped = 0
        self._failed = False
        self._stopping = threading.Event()
        self._queue: Queue[Alert] = Queue(_WAITING)
        self._thread = threading.Thread(target=self._run, name="alarms", daemon=True)
        self._thread.start()

    def alerted(self, alert: Alert) -> None:
        if alert.again or not at_least(alert.finding.severity, self._level):
            return
        try:
            self._queue.put_nowait(alert)
        except Full:
            self.skipped += 1

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None: ...

    def tick(self) -> None: ...

    def close(self) -> None:
        """Run what is waiting, for `LAST` seconds at most; who stops a recorder does not wait."""
        self._stopping.set()
        self._thread.join(min(self._timeout + 1, LAST))

    def _run(self) -> None:
        while True:
            try:
                alert = self._queue.get(timeout=0.1)
            except Empty:
                if self._stopping.is_set():
                    return
                continue
            problem = self._call(alert)
            if problem and not self._failed:
                self._failed = True
                self._say(f"the alarm command {problem}")

    def _call(self, alert: Alert) -> str | None:
        """Run it; what went wrong, if anything."""
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own words, no shell
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **alarm_environment(alert, self._recording)},
                start_new_session=True,  # Ctrl-C ends the recorder, not the alarm
            )
        except (OSError, ValueError) as error:
            return f"cannot be run: {error}"
        try:
            process.communicate(
                json.dumps(alarm_json(alert, self._recording)).encode(), self._timeout
            )
        except subprocess.TimeoutExpired:
            _end(process)
            return f"took longer than {self._timeout:g} s and was ended"
        return f"ended with code {process.returncode}" if process.returncode else None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()
    if process.stdin:
        process.stdin.close()
