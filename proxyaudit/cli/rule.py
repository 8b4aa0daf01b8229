"""`proxyaudit rule`: the rules there are, and what each of them is about."""

from typing import Annotated

import typer

from proxyaudit.cli.common import FormatOption, examples

_EXAMPLES = examples(
    "proxyaudit rule                           all rules",
    "proxyaudit rule message.dropped           what it does, why it matters, what to look at",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rule", epilog=_EXAMPLES)(rule)


def rule(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A rule, a family or a prefix.")
    ] = None,
    format_: FormatOption = "text",
) -> None:
    """List the rules, or explain one."""
    from proxyaudit.report.console import print_text
    from proxyaudit.report.rules import list_text, rule_text, rules_json
    from proxyaudit.workflows.selection import explained

    found = explained(name)
    if format_ == "json":
        typer.echo(rules_json(found))
    elif len(found) == 1:
        print_text(rule_text(found[0]))
    else:
        print_text(list_text(found))
