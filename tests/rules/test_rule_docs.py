"""Every rule documents itself in the same sections."""

import pytest

from proxyaudit.rules.base import Rule, all_rules

SECTIONS = ("What it does", "Why it matters", "Example", "What to look at next")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: f"{r.name}/{r.on.__name__}")
def test_the_sections_are_there_in_order(rule: Rule) -> None:
    lines = rule.doc.splitlines()
    assert [line for line in lines if line in SECTIONS] == list(SECTIONS)
    example = rule.doc.partition("\nExample\n")[2].partition("\nWhat to look at next\n")[0]
    assert "Good" in example or "Lawful" in example
