"""`proxyaudit list`: the recordings there are."""

import typer

from proxyaudit.cli.common import ROOT, FormatOption, RootOption, examples

_EXAMPLES = examples(
    "proxyaudit list",
    "proxyaudit list --recordings ~/captures --format json",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("list", epilog=_EXAMPLES)(list_)


def list_(format_: FormatOption = "text", root: RootOption = ROOT) -> None:
    """List the recordings, newest last."""
    from proxyaudit.report.console import print_text
    from proxyaudit.report.shelf import shelf_json, shelf_text
    from proxyaudit.workflows.look import shelf

    entries = shelf(root)
    if format_ == "json":
        typer.echo(shelf_json(entries))
    else:
        print_text(shelf_text(entries, str(root)))
