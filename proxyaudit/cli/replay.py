"""`proxyaudit replay`: options in, workflow, result out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proxyaudit.cli.common import (
    ROOT,
    FormatOption,
    RecordingArgument,
    RootOption,
    examples,
    free_folder,
)

if TYPE_CHECKING:
    from pathlib import Path

    from proxyaudit.core.replay import ReplayResult
    from proxyaudit.workflows.replay import Progress

_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
_INTERRUPTED = 130
_EXAMPLES = examples(
    "proxyaudit replay latest --target http://127.0.0.1:8080",
    "proxyaudit replay latest --target https://host/v1 --model other-name --api-key-env MY_KEY",
    "proxyaudit replay latest --target http://127.0.0.1:8080 --conversation 3f --turn 5",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay", epilog=_EXAMPLES)(replay)


def replay(
    recording: RecordingArgument,
    target: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where to send: http://host:port, or with a prefix, which then replaces the "
            "recorded one (http://host:port/v1).",
        ),
    ],
    conversation: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only this one (the beginning of its id will do)."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only turn N of each conversation.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Put this model name into the requests.")
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable with the target's key; by default OPENAI_API_KEY or "
            "ANTHROPIC_API_KEY, whichever fits the request, if it is set.",
        ),
    ] = None,
    tap: Annotated[
        Literal["client", "upstream"] | None,
        typer.Option(help="Requests of which tap; by default those of the client."),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, metavar="S", help="Give a request up after S seconds of silence."),
    ] = 600.0,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the new recording.")
    ] = None,
    format_: FormatOption = "text",
    root: RootOption = ROOT,
) -> None:
    """Send recorded requests to another target and compare the replies.

    The bytes are those recorded, but for host, path prefix, credentials and (if asked for) the
    model name. Equal prompt_tokens is the first question: it tells whether the model saw the same
    prompt. Exit code 1 where prompts, structure or tool calls differ; other words alone are no
    fault. 2 where nothing could be sent.
    """
    import asyncio

    from proxyaudit.client.send import Timeouts
    from proxyaudit.engine import audit
    from proxyaudit.report.console import print_text
    from proxyaudit.report.replay_text import replay_json, replay_view
    from proxyaudit.store.find import resolve
    from proxyaudit.store.read import open_recording
    from proxyaudit.store.write import RecordingWriter
    from proxyaudit.workflows.replay import replay as send_again
    from proxyaudit.workflows.replay_plan import Selection

    if api_key_env is not None:
        key_for("", api_key_env)
    path = resolve(recording, root)
    opened = open_recording(path)
    grouped = audit(opened, rules=())
    folder = free_folder(root, name, f"{path.name.partition('.')[0]}-replay")
    with removed_if_empty(folder), progress_on_stderr() as show:
        result = asyncio.run(
            send_again(
                opened,
                target,
                open_writer=lambda: RecordingWriter(
                    folder, about={"replay_of": str(path), "target": target}
                ),
                selection=Selection(conversation, turn),
                conversations=grouped.conversations,
                pairs=grouped.pairs,
                tap=tap,
                model=model,
                key=lambda dialect: key_for(dialect, api_key_env),
                timeouts=Timeouts(silence=timeout),
                on_progress=show,
            )
        )
    if format_ == "json":
        typer.echo(replay_json(result, str(folder)))
    else:
        print_text(replay_view(result, str(folder)))
    raise typer.Exit(_exit_code(result))


def _exit_code(result: "ReplayResult") -> int:
    """What was seen before an interruption counts; that nothing was seen by then does not."""
    if result.faults:
        return 1
    if result.interrupted:
        return _INTERRUPTED
    return 0 if result.turns else 2


def key_for(dialect: str, named: str | None) -> str | None:
    """The credential for a dialect: from the variable named, else from its usual one, if set."""
    import os

    from proxyaudit.core.errors import UserError

    if named is not None:
        key = os.environ.get(named, "").strip()
        if not key:
            raise UserError(f"the environment variable {named} is not set", f"export {named}=…")
        return key
    family = dialect.partition("-")[0]
    return os.environ.get(_KEYS.get(family, ""), "").strip() or None


@contextmanager
def removed_if_empty(folder: "Path") -> "Iterator[None]":
    """Leave no empty recording behind where nothing could be sent."""
    from proxyaudit.store.find import remove_if_empty

    try:
        yield
    finally:
        remove_if_empty(folder)


@contextmanager
def progress_on_stderr() -> "Iterator[Callable[[Progress], None]]":
    """A bar on a terminal; elsewhere one line for each turn. Both on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def show(progress: "Progress") -> None:
            bar.update(task, completed=progress.done, total=progress.planned)
            if not console.is_terminal:
                turn = progress.turn
                place = f"{progress.done}/{progress.planned}"
                typer.echo(f"{place} {turn.name}: {turn.verdict}", err=True)

        yield show
