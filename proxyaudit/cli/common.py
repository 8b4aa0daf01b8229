"""What the commands share: their options, and how they speak to the user.

Nothing heavy is imported here: `proxyaudit --help` has to answer at once.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from proxyaudit.core.errors import UserError

DEBUG = "PROXYAUDIT_DEBUG"

FormatOption = Annotated[
    Literal["text", "json"], typer.Option("--format", help="Text for people, or JSON for programs.")
]
RootOption = Annotated[
    Path,
    typer.Option(
        "--recordings",
        envvar="PROXYAUDIT_RECORDINGS",
        metavar="DIR",
        help="Folder in which names of recordings are looked up.",
    ),
]
RecordingArgument = Annotated[
    str, typer.Argument(metavar="RECORDING", help="A name, a path, or `latest`.")
]
ROOT = Path("recordings")


def examples(*lines: str) -> str:
    """The examples at the end of a command's help."""
    # The mark keeps click from running the lines together.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def say(message: str, hint: str = "") -> None:
    """An error for the user, on stderr, harmless even if it quotes traffic."""
    from proxyaudit.report.safe import safe

    _tell(f"proxyaudit: {safe(message)}")
    if hint:
        _tell(f"  hint: {safe(hint)}")


def note(message: str) -> None:
    """Something to know beside the result, on stderr."""
    from proxyaudit.report.safe import safe

    _tell(safe(message))


def _tell(line: str) -> None:
    # A terminal that is gone must not end a recording: there is nobody to tell then.
    with suppress(OSError):
        # In one piece: threads that speak at a time would run into each other's lines.
        sys.stderr.write(f"{line}\n")


def say_user_error(error: UserError) -> None:
    say(error.message, error.hint)


def is_debugging() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def _checked_name(name: str) -> str:
    """A name of a recording is one folder's name, and none that means something else."""
    if not name.strip() or name in (".", "..", "latest") or Path(name).name != name:
        raise UserError(f"{name!r} is no name for a recording", "use letters, digits, - and _")
    return name


def free_folder(root: Path, name: str | None, default: str) -> Path:
    """The folder to write to: a new one. UserError if the name asked for is taken."""
    if name is not None:
        folder = root / _checked_name(name)
        if folder.exists():
            raise UserError(f"{folder} exists", "Choose another --name, or leave it out.")
        return folder
    folder, number = root / default, 1
    while folder.exists():
        number += 1
        folder = root / f"{default}-{number}"
    return folder


def say_bug(error: BaseException) -> None:
    """Something of ours broke: say so, and how to report it."""
    say(f"internal error: {type(error).__name__}: {error}")
    if is_debugging():
        return
    _tell("  This is a bug in proxyaudit. Please report it with what this prints:")
    _tell(f"  {DEBUG}=1 proxyaudit …")
