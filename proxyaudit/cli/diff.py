"""`proxyaudit diff`: a turn against the next, one tap against the other, or two recordings."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from proxyaudit.cli.common import (
    ROOT,
    FormatOption,
    RecordingArgument,
    RootOption,
    examples,
    note,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from proxyaudit.core.comparison import Comparison
    from proxyaudit.workflows.look import Looked

    type View = Callable[[Comparison, tuple[str, str] | None], RenderableType]

_EXAMPLES = examples(
    "proxyaudit diff latest                    the first place where something changed",
    "proxyaudit diff latest --turn 4           turn 4 and its reply against turn 5",
    "proxyaudit diff latest --hop --turn 5     turn 5 on both sides of the proxy",
    "proxyaudit diff monday tuesday            two recordings, turn by turn",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diff", epilog=_EXAMPLES)(diff)


def diff(
    recording: RecordingArgument,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION|RECORDING",
            help="The id of a conversation, or of an exchange in it (or a beginning); or another "
            "recording, to compare with.",
        ),
    ] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Turn N, against turn N+1.")] = None,
    hop: Annotated[
        bool, typer.Option("--hop", help="Compare the two taps instead of two turns.")
    ] = False,
    side_by_side: Annotated[
        bool, typer.Option("--side-by-side", "-s", help="In two columns, if there is room.")
    ] = False,
    format_: FormatOption = "text",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Fold and cut nothing.")] = False,
    root: RootOption = ROOT,
) -> None:
    """Show two histories side by side, with what changed word by word.

    Without --turn: the first place where something changed. With a second recording: its
    conversations are matched with those of the first by what was asked, and compared turn by turn.
    """
    from proxyaudit.workflows.compare_two import second_recording
    from proxyaudit.workflows.look import look

    seen = look(recording, root)
    second = second_recording(seen, other, root)
    view = _view({} if second else seen.numbers, side_by_side, verbose)
    if second is not None:
        _recordings(seen, second, turn, hop, view, format_ == "json", verbose)
        return
    found = _chosen(seen, other, turn, hop)
    if format_ == "json":
        from proxyaudit.report.look_json import diff_json

        typer.echo(diff_json(seen.recording.target, found, seen.numbers))
    else:
        _print(found, view)


def _recordings(
    seen: "Looked",
    second: "Looked",
    turn: int | None,
    hop: bool,
    view: "View",
    as_json: bool,
    verbose: bool,
) -> None:
    from proxyaudit.report.console import print_text
    from proxyaudit.report.recordings_text import recordings_json, recordings_text
    from proxyaudit.workflows.compare_two import compare_two

    found = compare_two(seen, second, turn=turn, hop=hop)
    if as_json:
        typer.echo(recordings_json(found))
    else:
        print_text(recordings_text(found, view, whole=verbose))


def _chosen(seen: "Looked", word: str | None, turn: int | None, hop: bool) -> "list[Comparison]":
    from proxyaudit.workflows.look import after_turn, find_conversation, first_change, hops_of

    if turn is not None:
        conversation = find_conversation(seen, word, turn)
        return (hops_of if hop else after_turn)(seen, conversation, turn)
    only = find_conversation(seen, word) if word else None
    first = first_change(seen, only, hop)
    return [first] if first else []


def _view(numbers: dict[str, int], wanted: bool, whole: bool) -> "View":
    import sys

    from proxyaudit.report.columns import NARROWEST, columns
    from proxyaudit.report.console import width_of
    from proxyaudit.report.diff_text import diff_text, title

    width = width_of(sys.stdout)
    if wanted and width < NARROWEST:
        note(f"Two columns need {NARROWEST} characters, here are {width}: one below the other.")
    if wanted and width >= NARROWEST:
        return lambda found, titles: columns(found, title(found, numbers, titles), whole=whole)
    return lambda found, titles: diff_text(found, numbers, whole=whole, titles=titles)


def _print(found: "list[Comparison]", view: "View") -> None:
    from rich.text import Text

    from proxyaudit.report.console import print_text

    if not found:
        print_text(Text("Nothing was lost or changed."))
    for place, comparison in enumerate(found):
        if place:
            print_text(Text(""))
        print_text(view(comparison, None))
