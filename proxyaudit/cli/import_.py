"""`proxyaudit import`: files of other programs in, a recording out."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from proxyaudit.cli.common import ROOT, RootOption, examples, free_folder

_EXAMPLES = examples(
    "proxyaudit import session.har",
    "proxyaudit import client.har --upstream backend.flow --name both-sides",
    "proxyaudit import .claude-trace/log-2026-11-30.jsonl",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", epilog=_EXAMPLES)(import_)


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="HAR, mitmproxy flows, JSON Lines, claude-trace or claude-tap traces; the content "
            "decides which.",
        ),
    ],
    upstream: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A file that was seen behind the proxy; may be repeated."
        ),
    ] = None,
    tap: Annotated[
        Literal["client", "upstream"] | None,
        typer.Option(
            help="Where FILE... was seen: before the proxy (client, the default) or behind it."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the new recording.")
    ] = None,
    root: RootOption = ROOT,
) -> None:
    """Make a recording out of what other programs recorded.

    Several files become one recording. Keys and cookies in headers and addresses are replaced by
    fingerprints. Says what was read, what was not, and why. Exit code 2 if a file could not be read
    or held no exchange.
    """
    from proxyaudit.core.recording import Assume
    from proxyaudit.report.console import print_text
    from proxyaudit.report.import_text import import_text
    from proxyaudit.store.write import RecordingWriter
    from proxyaudit.workflows.importing import Source, import_files

    sources = [Source(path, tap) for path in files]
    sources += [Source(path, "upstream") for path in upstream or ()]
    folder = free_folder(root, name, files[0].name.strip(".").partition(".")[0] or "imported")

    def open_writer(facts: Assume) -> RecordingWriter:
        return RecordingWriter(
            folder, assume=facts, about={"imported": [source.path.name for source in sources]}
        )

    results = import_files(sources, open_writer)
    read = any(one.taps for one in results)
    print_text(import_text(results, str(folder) if read else None))
    raise typer.Exit(2 if any(one.problem for one in results) else 0)
