"""`proxyaudit demo`: the whole job in ten seconds, on embedded parts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proxyaudit.cli.common import ROOT, RootOption, examples, free_folder, note

if TYPE_CHECKING:
    from proxyaudit.workflows.demo import Demonstrated

_EXAMPLES = examples(
    "proxyaudit demo",
    "proxyaudit demo --list",
    "proxyaudit demo --fault strip-reasoning",
    "proxyaudit demo --fault none",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo", epilog=_EXAMPLES)(demo)


def demo(
    fault: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What the proxy does wrong, from the user's fourth question on. --list names all.",
        ),
    ] = "drop-first-turns",
    list_: Annotated[bool, typer.Option("--list", help="List the faults and end.")] = False,
    fail_on: Annotated[
        Literal["error", "warn", "info", "never"],
        typer.Option(help="Exit with 1 for findings of this severity or a higher one."),
    ] = "never",
    root: RootOption = ROOT,
) -> None:
    """Record a scripted agent through a proxy that forgets, audit the recording, replay it.

    Needs no network, no model and no key. The recording stays, for you to look at.
    """
    from proxyaudit.demo.faults import FAULTS, find
    from proxyaudit.workflows.audit import exit_code

    if list_:
        width = max(len(f.name) for f in FAULTS)
        for one in FAULTS:
            typer.echo(f"{one.name:{width}}  {one.what}")
        return
    find(fault)
    done = _run(fault, root)
    _show(done)
    raise typer.Exit(exit_code([done.report], None if fail_on == "never" else fail_on))


def _run(fault: str, root: Path) -> "Demonstrated":
    import asyncio

    from proxyaudit.workflows.demo import demonstrate

    folder = free_folder(root, None, f"demo-{fault}")
    return asyncio.run(demonstrate(fault, folder, on_step=lambda step: note(f"· {step}")))


def _show(done: "Demonstrated") -> None:
    from rich.text import Text

    from proxyaudit.report.background import Background
    from proxyaudit.report.console import print_text
    from proxyaudit.report.replay_text import replay_view
    from proxyaudit.report.text import report_text
    from proxyaudit.workflows.selection import families

    note("")
    print_text(report_text(done.report, Background(done.numbers, families(), False)))
    print_text(Text("\n" + "─" * 40 + "\n", "dim"))
    print_text(replay_view(done.replayed, str(done.replay_folder)))
