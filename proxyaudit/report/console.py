"""Where text goes: a terminal, a pipe, a file; with or without colour."""

import io
import os
import shutil
import sys
from typing import IO

from rich.console import Console, RenderableType

# Wider lines are hard to read; a pipe has no width of its own.
WIDEST = 120
PIPED = 100


def width_of(stream: IO[str]) -> int:
    """How wide to write: the terminal's width up to a limit, or a fixed one for a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return max(40, int(columns))
    if stream.isatty():
        return max(40, min(WIDEST, shutil.get_terminal_size((PIPED, 24)).columns))
    return PIPED


def console_for(stream: IO[str]) -> Console:
    """A console that takes text as it is: no markup, no emoji names, no guessed highlights."""
    return Console(file=stream, width=width_of(stream), markup=False, emoji=False, highlight=False)


def plain(renderable: RenderableType, width: int = PIPED) -> str:
    """The text without colour and without spaces at line ends."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
        color_system=None,
        force_terminal=False,
    )
    console.print(renderable)
    return "".join(
        line.rstrip() + "\n" for line in stream.getvalue().removesuffix("\n").split("\n")
    )


def print_text(renderable: RenderableType, stream: IO[str] | None = None) -> None:
    """Print to stdout (or `stream`): in colour where it is wanted, else as plain text."""
    out = sys.stdout if stream is None else stream
    console = console_for(out)
    if console.color_system is None:
        out.write(plain(renderable, console.width))
    else:
        console.print(renderable)
