"""Write docs/rules.md from the docstrings of the rules: `uv run python docs/make_rules.py`."""

from itertools import groupby
from pathlib import Path

from proxyaudit.rules.base import Rule, all_rules

TARGET = Path(__file__).with_name("rules.md")
HEAD = """\
# Rules

Made from the docstrings of the rules by `docs/make_rules.py`; `proxyaudit rule NAME` prints the
same. A name says what is wrong: read it as "allow NAME".
"""


def document() -> str:
    """The whole page, by family."""
    named = {rule.name: rule for rule in reversed(all_rules())}
    rules = sorted(named.values(), key=lambda rule: (rule.family, rule.name))
    pages = [HEAD]
    for family, members in groupby(rules, key=lambda rule: rule.family):
        pages.append(f"\n## {family.capitalize()}\n")
        pages += [_page(rule) for rule in members]
    return "".join(pages)


def _page(rule: Rule) -> str:
    meaning, _, rest = rule.doc.partition("\n")
    lines = [f"\n### `{rule.name}`\n", f"\n*{rule.severity}*: {meaning}\n"]
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            lines.append(f"\n**{line.strip()}**\n\n")
        elif line.strip():
            lines.append(f"{line.strip()}\n")
    return "".join(lines)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
