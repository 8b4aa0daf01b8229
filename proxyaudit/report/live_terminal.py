"""Where the status of a recorder is shown: a few lines that stay at the foot of a terminal."""

from collections.abc import Callable, Sequence
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from proxyaudit.core.exchange import Exchange
from proxyaudit.engine.watch import Alert, Seen
from proxyaudit.report.console import width_of
from proxyaudit.report.live_alarm import alarm_lines
from proxyaudit.report.live_status import Status, status_view
from proxyaudit.report.parts import SEVERITY_STYLE


class _Steady(Console):
    """A console that never hides the cursor: a recorder that is killed leaves it as it was."""

    def show_cursor(self, show: bool = True) -> bool:
        return False


class Terminal:
    """Shows the status on a terminal, alarms above it. What else is written to stderr meanwhile
    comes above it, too. Drawn by `tick`, if there is anything new.

    `numbers` gives (exchanges not watched, lines not written).
    """

    def __init__(
        self, stream: IO[str], recording: str, numbers: Callable[[], tuple[int, int]]
    ) -> None:
        self._recording = recording
        self._numbers = numbers
        self._console = _Steady(
            file=stream, width=width_of(stream), markup=False, emoji=False, highlight=False
        )
        self._status = Status()
        self._new = True
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=True,
            vertical_overflow="crop",
        )
        self._live.start()

    def alerted(self, alert: Alert) -> None:
        if alert.again or alert.finding.severity == "info":
            return
        self._status.alarm(alert)
        said, hint = alarm_lines(alert, self._recording)
        severity = alert.finding.severity
        style = SEVERITY_STYLE[severity]
        line = Text(said)
        line.stylize(style, 0, len(severity))
        self._console.print(line)
        self._console.print(Text(hint, "dim"))
        self._new = True

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        self._status.ended(exchange, turns)
        self._new = True

    def tick(self) -> None:
        numbers = self._numbers()
        if self._new or numbers != (self._status.behind, self._status.lost):
            self._status.behind, self._status.lost = numbers
            self._new = False
            self._live.update(status_view(self._status), refresh=True)

    def close(self) -> None:
        self.tick()
        self._live.stop()


class Lines:
    """Alarms as plain lines, by a function that prints one."""

    def __init__(self, say: Callable[[str], None], recording: str) -> None:
        self._say = say
        self._recording = recording

    def alerted(self, alert: Alert) -> None:
        if not alert.again and alert.finding.severity != "info":
            for line in alarm_lines(alert, self._recording):
                self._say(line)

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None: ...

    def tick(self) -> None: ...

    def close(self) -> None: ...
