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


def test_checks_of_one_name_agree() -> None:
    """One name has one severity, however many kinds of subject it is checked on."""
    told: dict[str, set[str]] = {}
    for rule in all_rules():
        told.setdefault(rule.name, set()).add(rule.severity)
    assert {name for name, severities in told.items() if len(severities) > 1} == set()
