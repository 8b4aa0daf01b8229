"""`proxyaudit audit`: recordings in, reports out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from proxyaudit.cli.common import ROOT, FormatOption, RootOption, examples, note

if TYPE_CHECKING:
    from rich.console import RenderableType

    from proxyaudit.workflows.audit import Judged
    from proxyaudit.workflows.settings import Settings

_EXAMPLES = examples(
    "proxyaudit audit latest",
    "proxyaudit audit session.flow --format json --output report.json",
    "proxyaudit audit latest --select history,tools --fail-on error",
    "proxyaudit audit latest --assume reasoning_echo=tool_turns",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog=_EXAMPLES)(audit)


def audit(
    recordings: Annotated[
        list[str],
        typer.Argument(
            metavar="RECORDING...",
            help="Names, paths (a folder, .jsonl, .jsonl.zst, .flow, .har, a trace) or `latest`.",
        ),
    ],
    format_: FormatOption = "text",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="Only these rules: a rule, a family, a prefix, `*`."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="WHAT", help="Not these rules.")
    ] = None,
    fail_on: Annotated[
        Literal["error", "warn", "info", "never"] | None,
        typer.Option(
            help="Exit with 1 for findings of this severity or a higher one; by default warn."
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACT=VALUE",
            help="State a fact: reasoning_echo=tool_turns|always|forbidden, "
            "client_credential_is_for=proxy|upstream, model_aliases=ALIAS=NAME,NAME, "
            "harness=aider|continue|….",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the report to this file.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Leave nothing out of the text.")
    ] = False,
    root: RootOption = ROOT,
) -> None:
    """Say what is wrong in a recording, where, and who did it.

    Defaults and facts may stand in proxyaudit.toml, in this folder or above it in the repository.

    Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 could not run, or nothing in the
    recording could be judged.
    """
    from proxyaudit.report.json import report_json
    from proxyaudit.workflows.audit import audit_all, exit_code, keep_recordings
    from proxyaudit.workflows.selection import check_facts, rules_for

    settings = _settings()
    rules = rules_for(select or settings.select, ignore or settings.ignore)
    facts = assume or []
    check_facts(facts)
    if output is not None:
        keep_recordings(output, recordings, root)
    judged = list(audit_all(recordings, root, rules=rules, facts=facts, settings=settings))
    reports = [one.report for one in judged]
    if format_ == "json":
        _deliver_json(report_json(reports), output)
    else:
        _deliver_text(judged, output, verbose)
    if output is not None:
        note(f"{output}: {'; '.join(r.headline for r in reports)}")
    level = fail_on or settings.fail_on or "warn"
    raise typer.Exit(exit_code(reports, None if level == "never" else level))


def _settings() -> "Settings":
    from proxyaudit.workflows.settings import find_settings

    found = find_settings(Path.cwd())
    if found.path is not None:
        note(f"Settings of {found.path} apply.")
    return found.settings


def _deliver_json(document: str, output: Path | None) -> None:
    from proxyaudit.report.files import write_file

    if output is None:
        typer.echo(document)
    else:
        write_file(output, document + "\n")


def _deliver_text(judged: "list[Judged]", output: Path | None, verbose: bool) -> None:
    from proxyaudit.report.console import plain, print_text
    from proxyaudit.report.files import write_file

    views = _views(judged, verbose)
    if output is None:
        for view in views:
            print_text(view)
    else:
        write_file(output, "".join(plain(view) for view in views))


def _views(judged: "list[Judged]", verbose: bool) -> "list[RenderableType]":
    from rich.text import Text

    from proxyaudit.report.background import Background
    from proxyaudit.report.text import report_text
    from proxyaudit.workflows.selection import families

    known = families()
    views: list[RenderableType] = []
    for place, (report, numbers) in enumerate(judged):
        if place:
            views.append(Text("\n" + "─" * 40 + "\n", "dim"))
        views.append(report_text(report, Background(numbers, known, verbose)))
    return views
