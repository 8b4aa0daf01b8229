"""`proxyaudit diff`: a turn against the next, or one tap against the other."""

from typing import TYPE_CHECKING, Annotated

import typer

from proxyaudit.cli.common import ROOT, FormatOption, RecordingArgument, RootOption, examples

if TYPE_CHECKING:
    from proxyaudit.core.comparison import Comparison
    from proxyaudit.workflows.look import Looked

_EXAMPLES = examples(
    "proxyaudit diff latest                    the first place where something changed",
    "proxyaudit diff latest --turn 4           turn 4 and its reply against turn 5",
    "proxyaudit diff latest --hop --turn 5     turn 5 on both sides of the proxy",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diff", epilog=_EXAMPLES)(diff)


def diff(
    recording: RecordingArgument,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION", help="Its id, or that of an exchange in it (or a beginning)."
        ),
    ] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Turn N, against turn N+1.")] = None,
    hop: Annotated[
        bool, typer.Option("--hop", help="Compare the two taps instead of two turns.")
    ] = False,
    format_: FormatOption = "text",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Fold and cut nothing.")] = False,
    root: RootOption = ROOT,
) -> None:
    """Show two histories side by side, with what changed word by word.

    Without --turn: the first place where something changed.
    """
    from proxyaudit.workflows.look import look

    seen = look(recording, root)
    found = _chosen(seen, conversation, turn, hop)
    if format_ == "json":
        from proxyaudit.report.look_json import diff_json

        typer.echo(diff_json(seen.recording.target, found, seen.numbers))
    else:
        _print(seen, found, verbose)


def _chosen(seen: "Looked", word: str | None, turn: int | None, hop: bool) -> "list[Comparison]":
    from proxyaudit.workflows.look import after_turn, find_conversation, first_change, hops_of

    if turn is not None:
        conversation = find_conversation(seen, word, turn)
        return (hops_of if hop else after_turn)(seen, conversation, turn)
    only = find_conversation(seen, word) if word else None
    first = first_change(seen, only, hop)
    return [first] if first else []


def _print(seen: "Looked", found: "list[Comparison]", verbose: bool) -> None:
    from rich.text import Text

    from proxyaudit.report.console import print_text
    from proxyaudit.report.diff_text import diff_text

    if not found:
        print_text(Text("Nothing was lost or changed."))
    for place, comparison in enumerate(found):
        if place:
            print_text(Text(""))
        print_text(diff_text(comparison, seen.numbers, whole=verbose))
