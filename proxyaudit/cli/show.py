"""`proxyaudit show`: a recording, a conversation, an exchange, or its raw bytes."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proxyaudit.cli.common import ROOT, FormatOption, RecordingArgument, RootOption, examples

if TYPE_CHECKING:
    from proxyaudit.core.conversation import Conversation
    from proxyaudit.workflows.look import Looked

_EXAMPLES = examples(
    "proxyaudit show latest                    conversations and their turns",
    "proxyaudit show latest --turn 5           one turn: prompt, reply, headers",
    "proxyaudit show latest c2                 one conversation, turn by turn",
    "proxyaudit show latest c2 --turn 5",
    "proxyaudit show latest --turn 5 --raw request | jq .",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show", epilog=_EXAMPLES)(show)


def show(
    recording: RecordingArgument,
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="A conversation or an exchange; the beginning of its id will do."
        ),
    ] = None,
    turn: Annotated[
        int | None,
        typer.Option(min=1, help="Turn N of the conversation (default: the longest one)."),
    ] = None,
    raw: Annotated[
        Literal["request", "response"] | None,
        typer.Option(help="Write this body to stdout, byte for byte as it was on the wire."),
    ] = None,
    format_: FormatOption = "text",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Cut nothing.")] = False,
    root: RootOption = ROOT,
) -> None:
    """Look at what was recorded."""
    from proxyaudit.core.conversation import Conversation
    from proxyaudit.core.errors import UserError
    from proxyaudit.workflows.look import find, look

    seen = look(recording, root)
    if turn is not None:
        chosen = _turn(seen, which, turn)
        _exchange(seen, chosen, raw, format_, verbose)
    elif which is None:
        if raw:
            raise UserError("--raw needs an exchange", "add its ID, or --turn N")
        _recording(seen, format_)
    else:
        found = find(seen, which)
        if not isinstance(found, Conversation):
            _exchange(seen, found.id, raw, format_, verbose)
        elif raw:
            raise UserError("--raw needs an exchange", "add --turn N")
        else:
            _conversation(seen, found, format_, verbose)


def _turn(seen: "Looked", which: str | None, turn: int) -> str:
    """The id of the exchange meant; says which conversation was taken if there is a choice."""
    from proxyaudit.cli.common import note
    from proxyaudit.workflows.look import find_conversation, others

    conversation = find_conversation(seen, which, turn)
    rest = [] if which else others(seen, conversation)
    if rest:
        names = ", ".join(c.id for c in rest[:5])
        note(f"turn {turn} of conversation {conversation.id}; there are others: {names}")
    return conversation.turns[turn - 1].id


def _recording(seen: "Looked", format_: str) -> None:
    from proxyaudit.report.console import print_text
    from proxyaudit.report.look_json import overview_json
    from proxyaudit.report.overview import overview
    from proxyaudit.report.overview_text import overview_text

    view = overview(seen.recording, seen.audited)
    if format_ == "json":
        typer.echo(overview_json(view))
    else:
        print_text(overview_text(view))


def _conversation(
    seen: "Looked", conversation: "Conversation", format_: str, verbose: bool
) -> None:
    from rich.console import Group

    from proxyaudit.report.console import print_text
    from proxyaudit.report.look_json import conversation_json
    from proxyaudit.report.overview import conversation_lines
    from proxyaudit.report.overview_text import conversation_title
    from proxyaudit.report.transcript import transcript

    view = conversation_lines(conversation, seen.audited)
    if format_ == "json":
        typer.echo(conversation_json(seen.recording.target, view))
    else:
        print_text(Group(conversation_title(view), *transcript(conversation, verbose=verbose)))


def _exchange(seen: "Looked", id_: str, raw: str | None, format_: str, verbose: bool) -> None:
    from proxyaudit.report.console import print_text
    from proxyaudit.report.exchange_text import exchange_text
    from proxyaudit.report.look_json import exchange_json
    from proxyaudit.report.raw import write_bytes
    from proxyaudit.workflows.look import one_exchange, raw_body

    one = one_exchange(seen, id_)
    if raw:
        write_bytes(raw_body(one.exchange, raw))
    elif format_ == "json":
        typer.echo(exchange_json(seen.recording.target, one))
    else:
        print_text(exchange_text(one, verbose=verbose))
