"""Rules for people: a list, or the documentation of one, which is its docstring."""

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.report.json import to_json
from proxyaudit.report.parts import SEVERITY_STYLE, grid, heading, indented
from proxyaudit.rules.base import Rule


def rules_json(rules: Sequence[Rule]) -> str:
    """`proxyaudit.rules/1`."""
    return to_json(
        {
            "schema": "proxyaudit.rules/1",
            "rules": [
                {
                    "name": rule.name,
                    "family": rule.family,
                    "severity": rule.severity,
                    "meaning": rule.meaning,
                    "documentation": rule.doc,
                }
                for rule in rules
            ],
        }
    )


def list_text(rules: Sequence[Rule]) -> RenderableType:
    """By family: name, severity and meaning of each."""
    parts: list[RenderableType] = []
    widest = max((len(rule.name) for rule in rules), default=0)
    for family, group in groupby(rules, key=lambda r: r.family):
        parts.append(heading(family))
        rows = [
            (
                Text(rule.name.ljust(widest)),
                Text(rule.severity.ljust(5), SEVERITY_STYLE[rule.severity]),
                rule.meaning,
            )
            for rule in group
        ]
        parts.append(indented(grid(rows)))
    parts.append(Text("\n`proxyaudit rule NAME` explains one.", "dim"))
    return Group(*parts)


def rule_text(rule: Rule) -> RenderableType:
    """The documentation of one rule."""
    title = Text(rule.name, "bold").append(f"  {rule.severity}", SEVERITY_STYLE[rule.severity])
    title.append(f"  family {rule.family}", "dim not bold")
    return Group(title, *_body(rule.doc))


def _body(doc: str) -> Iterator[RenderableType]:
    """Paragraphs filled anew; a line before an indented block is the name of a section."""
    blocks = [block for block in doc.split("\n\n") if block.strip()]
    for place, block in enumerate(blocks):
        first, _, rest = block.partition("\n")
        if place and rest.startswith("    ") and not first.startswith(" "):
            yield heading(first)
            block = rest
        elif place == 0:
            yield Text("")
        for line in _filled(textwrap.dedent(block)):
            yield indented(Text(line))


def _filled(block: str) -> Iterator[str]:
    """One line for each paragraph; a line that begins with a label (`Bad: …`) begins a new one."""
    held: list[str] = []
    for line in block.split("\n"):
        if held and line.partition(" ")[0] in {"Bad:", "Good:"}:
            yield " ".join(held)
            held = []
        held.append(line.strip())
    yield " ".join(held)
