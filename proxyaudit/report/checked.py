"""What was checked, what could not be, and what a clean verdict does not prove."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from proxyaudit.core.report import Checked, Report
from proxyaudit.report.background import Background, taps
from proxyaudit.report.parts import count, grid, heading, indented, listed
from proxyaudit.report.safe import safe_line

_NAMES = 3


def checked_text(report: Report, background: Background) -> Iterator[RenderableType]:
    """Rules that ran, by family."""
    families: dict[str, list[Checked]] = defaultdict(list)
    for entry in report.checked:
        if _looked_at(entry):
            families[background.family(entry.rule)].append(entry)
    yield heading("Checked")
    if not families:
        yield indented("nothing: no rule found anything to look at")
        return
    found = _findings_by_family(report, background)
    rows = [
        (
            safe_line(family),
            count(len(entries), "rule"),
            count(sum(_looked_at(e) for e in entries), "check"),
            count(found[family], "finding") if found[family] else "",
        )
        for family, entries in sorted(families.items())
    ]
    yield indented(grid(rows, right=(1, 2)))


def unchecked_text(report: Report, background: Background) -> Iterator[RenderableType]:
    """Reasons for which rules were skipped, rules that broke, exchanges that are no turns."""
    rows = [*_skips(report.checked, background), *_left_out(report)]
    if rows:
        yield heading("Could not be checked")
        yield indented(grid(rows))
    if report.flaws:
        yield heading("Flaws")
        for flaw in report.flaws:
            yield indented(Text(safe_line(flaw, 400), "yellow"))


def limits_text(report: Report) -> Iterator[RenderableType]:
    """What a clean verdict does not prove."""
    lines = list(_limits(report))
    if report.verdict == "clean" and lines:
        yield heading("What this does not prove")
        yield from (indented(Text(line)) for line in lines)


def _looked_at(entry: Checked) -> int:
    return max(0, entry.subjects - sum(entry.skipped.values()) - entry.broke)


def _findings_by_family(report: Report, background: Background) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for finding in report.findings:
        found[background.family(finding.rule)] += 1
    return found


def _skips(
    checked: Sequence[Checked], background: Background
) -> Iterator[tuple[Text | str, str, str]]:
    reasons: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in checked:
        for reason, times in entry.skipped.items():
            reasons[reason][entry.rule] = times
        if not entry.subjects and not entry.skipped:
            reasons["nothing of the kind in this recording"][entry.rule] = 0
    for reason, rules in sorted(reasons.items(), key=lambda item: -len(item[1])):
        names = sorted(rules)
        shown = listed(names, len(names) if background.verbose else _NAMES)
        times = sum(rules.values())
        yield safe_line(reason, 100), count(times, "time") if times else "", shown
    for entry in checked:
        if entry.broke:
            rule = safe_line(entry.rule)
            yield Text("the rule broke (a bug)", "red"), count(entry.broke, "time"), rule


def _left_out(report: Report) -> Iterator[tuple[str, str, str]]:
    reasons = report.measurements.get("not_turns")
    if isinstance(reasons, dict):
        for reason, times in reasons.items():
            number = times if isinstance(times, int) else 0
            yield safe_line(reason, 100), count(number, "exchange"), "not judged"


def _limits(report: Report) -> Iterator[str]:
    seen = taps(report)
    if seen and "upstream" not in seen:
        yield (
            "Only the client tap was recorded. What happens behind it, to the request on its way "
            "to the model, is out of sight: `proxyaudit record --backend URL` sees both sides."
        )
    elif seen and "client" not in seen:
        yield (
            "Only the upstream tap was recorded. Whether these requests are what the harness sent "
            "is out of sight: `proxyaudit record --backend URL` sees both sides."
        )
    elif seen:
        yield (
            "Both sides of the proxy agree. What the server does with a prompt shows only in token "
            "counts and answers: `proxyaudit replay` asks again and compares."
        )
    if report.conversations and all(c.turns < 2 for c in report.conversations):
        yield "No conversation has a second turn, so there was no history to lose."
