"""What `record` and `run` share: options to watch traffic while it is recorded."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from proxyaudit.cli.common import note, say

if TYPE_CHECKING:
    from proxyaudit.core.recording import Assume
    from proxyaudit.workflows.watch import Watch

UiOption = Annotated[
    bool,
    typer.Option("--ui/--no-ui", help="A status at the foot of the terminal, or a line each."),
]
EventsOption = Annotated[
    str | None,
    typer.Option(metavar="FILE|-", help="Write what happens as JSON Lines; - is stdout."),
]
AlarmCommandOption = Annotated[
    str | None,
    typer.Option(
        metavar="CMD", help="Run this for each alarm; it gets the finding as JSON on stdin."
    ),
]
AlarmOnOption = Annotated[
    Literal["error", "warn"], typer.Option(help="Severity from which the command is run.")
]
MetricsOption = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Serve counters for Prometheus at /metrics."),
]


@dataclass(frozen=True, slots=True)
class Watching:
    """What the user asked for. `ui` False: lines on stderr; None: nothing is shown here."""

    ui: bool | None = True
    events: str | None = None
    alarm_command: str | None = None
    alarm_on: Literal["error", "warn"] = "warn"
    metrics: str | None = None


def open_watch(asked: Watching, folder: Path, assume: "Assume | None" = None) -> "Watch":
    """A watch with what it needs beside the terminal; `start_watch` starts it, `close` ends it.

    Raises UserError for a command that is not there, an address or a file that cannot be used.
    """
    from proxyaudit.engine.watch import Watcher
    from proxyaudit.rules.base import Facts
    from proxyaudit.workflows.alarm import AlarmCommand, command_words
    from proxyaudit.workflows.watch import Watch

    words = command_words(asked.alarm_command) if asked.alarm_command is not None else None
    watch = Watch(Watcher(Facts(assume) if assume else None))
    try:
        if asked.events is not None:
            from proxyaudit.report.live_events import Events

            watch.listen(Events(_stream(asked.events), str(folder)))
        if asked.metrics is not None:
            _serve(watch, asked.metrics)
        if words:
            watch.listen(AlarmCommand(words, str(folder), asked.alarm_on, say))
    except BaseException:
        watch.close()
        raise
    return watch


def start_watch(
    watch: "Watch", asked: Watching, folder: Path, tell: Callable[[str], None] = note
) -> bool:
    """Show the status, or `tell` the alarms in lines, and begin.

    Returns whether the status has the terminal now.
    """
    from proxyaudit.report.live_terminal import Lines, Terminal

    shown = bool(asked.ui) and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if shown:
        stream = sys.stderr
        watch.listen(Terminal(stream, str(folder), lambda: (watch.missed, watch.lost())))
    elif asked.ui is not None:
        watch.listen(Lines(tell, str(folder)))
    watch.start()
    return shown


def _serve(watch: "Watch", address: str) -> None:
    from proxyaudit.cli.record import _address, _warn_if_open
    from proxyaudit.report.live_metrics import Metrics

    host, port = _address(address)
    _warn_if_open(address)
    metrics = Metrics(
        host,
        port,
        {
            "queue_length": ("Lines waiting to be written to the recording.", watch.unwritten),
            "watch_queue_length": ("Events waiting to be watched.", lambda: watch.waiting),
            "lost_lines": ("Lines of the recording that could not be written.", watch.lost),
            "unwatched_exchanges": ("Exchanges not watched.", lambda: watch.missed),
        },
    )
    watch.listen(metrics)
    note(f"Metrics at http://{address.rpartition(':')[0] or host}:{metrics.port}/metrics")


def _stream(name: str) -> TextIO:
    from proxyaudit.core.errors import UserError

    if name == "-":
        return sys.stdout
    try:
        number = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise UserError(
            f"cannot write events to {name}: {error.strerror or error}", "choose another file"
        ) from None
    return os.fdopen(number, "w", encoding="utf-8")
