"""Findings as text: in full where something is wrong, a line each where it is only worth a note."""

import json
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.finding import SEVERITIES
from proxyaudit.core.json import JSON
from proxyaudit.core.report import ReportedFinding
from proxyaudit.report.background import Background
from proxyaudit.report.parts import SEVERITY_STYLE, Barred, grid, indented, listed, quotation
from proxyaudit.report.places import place_lines
from proxyaudit.report.safe import safe_line
from proxyaudit.report.words import word_text

# A fault that lasts says much the same in each turn; the JSON has more of it.
_AGAIN = 1
_SHOWN_APART = frozenset({"before", "after", "text", "also", "times", "lost", "of"})
_VALUE = 300


def by_severity(findings: Sequence[ReportedFinding]) -> list[ReportedFinding]:
    """Errors first; within a severity in the order of the report."""
    return sorted(findings, key=lambda f: -SEVERITIES.index(f.severity))


def findings_text(
    findings: Sequence[ReportedFinding], background: Background
) -> Iterator[RenderableType]:
    """One block for each alarm, then the notes."""
    for finding in by_severity(findings):
        if finding.severity != "info" or background.verbose:
            yield finding_block(finding, background)
    if background.verbose:
        return
    notes = [f for f in findings if f.severity == "info"]
    if notes:
        yield Text("")
        yield indented(grid(_note(f) for f in notes))


def finding_block(finding: ReportedFinding, background: Background) -> RenderableType:
    """A finding with its places and its evidence."""
    numbers = _numbers(finding, background)
    parts: list[RenderableType] = [Text(""), _title(finding)]
    parts.append(indented(Text(safe_line(finding.message), "bold"), 4))
    rows = list(_rows(finding, numbers, background.verbose))
    parts.append(indented(grid(rows), 4))
    said = "\n".join([safe_line(finding.message), *(value for _, value in rows)])
    parts += _exhibits(finding.evidence, said, background.verbose)
    return Group(*parts)


def _numbers(finding: ReportedFinding, background: Background) -> Mapping[str, int]:
    if not finding.turn:
        return background.numbers
    return {finding.places[0].exchange: finding.turn, **background.numbers}


def _title(finding: ReportedFinding) -> Text:
    out = Text("  ")
    out.append(finding.severity, SEVERITY_STYLE[finding.severity])
    out.append(f"  {safe_line(finding.rule)}", "bold")
    if finding.turn:
        out.append(f"  turn {finding.turn}")
    out.append(f"  suspect: {_suspect(finding)}", "magenta")
    return out


def _suspect(finding: ReportedFinding) -> str:
    who = {
        "upstream": "proxy or server (one tap cannot tell)",
        "unknown": "unknown (the recording does not show who)",
    }.get(finding.suspect, f"the {finding.suspect}")
    return who if finding.confidence == "certain" else f"{who}, {finding.confidence}"


def _note(finding: ReportedFinding) -> tuple[Text | str, ...]:
    times = finding.evidence.get("times")
    again = f" ({times} times)" if isinstance(times, int) and times > 1 else ""
    return (
        Text("info", SEVERITY_STYLE["info"]),
        safe_line(finding.rule),
        f"turn {finding.turn}" if finding.turn else "",
        safe_line(finding.message, 200) + again,
    )


def _rows(
    finding: ReportedFinding, numbers: Mapping[str, int], whole: bool
) -> Iterator[tuple[Text, str]]:
    def row(label: str, value: str) -> tuple[Text, str]:
        return Text(label, "dim"), value

    places = place_lines(finding.places, numbers, whole=whole)
    yield row("where", "\n".join(places))
    if finding.before:
        before = place_lines(finding.before, numbers, whole=whole)
        yield row("before", "\n".join(before))
    evidence = finding.evidence
    facts = [(key, _value(value)) for key, value in evidence.items() if key not in _SHOWN_APART]
    if "lost" in evidence and "of" in evidence:
        facts.insert(0, ("lost", f"{evidence['lost']} of {evidence['of']}"))
    # The message is written from the evidence and often holds it already.
    told = safe_line(finding.message)
    yield from (row(safe_line(key, 40), value) for key, value in facts if value not in told)
    yield from (row("again", line) for line in _again(evidence))


def _again(evidence: Mapping[str, JSON]) -> Iterator[str]:
    also, times = evidence.get("also"), evidence.get("times")
    if not isinstance(also, list):
        return
    shown = also[:_AGAIN]
    yield from (safe_line(str(message), 200) for message in shown)
    rest = times - 1 - len(shown) if isinstance(times, int) and also else 0
    if rest > 0:
        yield f"… and {rest} more like {'this' if rest == 1 else 'these'}"


def _value(value: JSON) -> str:
    match value:
        case str():
            return safe_line(value, _VALUE)
        case list() if value and all(isinstance(item, str) for item in value):
            return listed([str(item) for item in value], 5)
        case _:
            return safe_line(json.dumps(value, ensure_ascii=False), _VALUE)


def _exhibits(evidence: Mapping[str, JSON], said: str, whole: bool) -> Iterator[RenderableType]:
    before, after, text = (evidence.get(key) for key in ("before", "after", "text"))
    if isinstance(before, str) and isinstance(after, str):
        yield Barred(word_text(before, after, whole=whole))
    else:
        for key, value in (("before", before), ("after", after)):
            if value is not None:
                yield indented(grid([(Text(key, "dim"), _value(value))]), 4)
    if isinstance(text, str) and safe_line(text) not in said:
        yield Barred(quotation(text))
