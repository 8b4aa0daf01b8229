"""A test of transparency for people: a line a check, what differs, the times, the verdict."""

import textwrap
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.selftest import CheckResult, Interval, Pacing, SelftestDocument
from proxyaudit.report.json import to_json
from proxyaudit.report.parts import count
from proxyaudit.report.safe import safe_line

_MARKS = {
    "ok": ("[OK]", "green"),
    "fail": ("[FAIL]", "bold red"),
    "warn": ("[WARN]", "yellow"),
    "skip": ("[SKIP]", "dim"),
}
_INDENT = " " * 7
_WIDTH = 96


def selftest_json(document: SelftestDocument) -> str:
    """The document `proxyaudit.selftest/1`."""
    return to_json(document.model_dump(mode="python"))


def check_view(result: CheckResult) -> RenderableType:
    """One check; what it says may quote a proxy, and is made harmless."""
    mark, style = _MARKS[result.status]
    first, *more = textwrap.wrap(f"{result.id}: {result.proves}", _WIDTH - len(_INDENT))
    lines = [Text(mark.ljust(len(_INDENT)), style).append(first, "default not bold")]
    lines += [Text(_INDENT + line) for line in more]
    for detail in result.details:
        told = textwrap.wrap(safe_line(detail), _WIDTH - len(_INDENT) - 2) or [""]
        lines += [
            Text(f"{_INDENT}{'  ' if number else '- '}{line}") for number, line in enumerate(told)
        ]
    return Group(*lines)


def summary_view(document: SelftestDocument) -> RenderableType:
    """The times and the verdict."""
    parts: list[RenderableType] = [Text()]
    if document.pacing is not None:
        parts += [*map(Text, _times(document.pacing)), Text()]
    style = {"transparent": "bold green", "not transparent": "bold red"}
    words = f"{document.verdict.upper()}: {_why(document)}"
    parts.append(Text(safe_line(words), style.get(document.verdict, "bold yellow")))
    return Group(*parts)


def _times(pacing: Pacing) -> Iterator[str]:
    yield (
        "added to the first byte: "
        f"{_interval(pacing.first_byte)} (direct {_ms(pacing.direct_first_byte)})"
    )
    yield f"added to each chunk:     {_interval(pacing.chunk)} (direct {_ms(pacing.direct_chunk)})"
    yield f"medians of {pacing.chunk.pairs} streams in pairs, 95 % bootstrap intervals"


def _interval(interval: Interval) -> str:
    return f"{_ms(interval.median)} [{_ms(interval.low)}, {_ms(interval.high)}]"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _why(document: SelftestDocument) -> str:
    who = "the recorder" if document.target == "recorder" else document.target
    by = {
        status: sum(check.status == status for check in document.checks)
        for status in ("ok", "fail", "warn")
    }
    if document.verdict == "not transparent":
        return (
            f"{who} can be noticed: {by['fail']} of {count(len(document.checks), 'check')} failed"
        )
    if document.verdict == "inconclusive":
        return f"not every check of {who} could be made"
    warned = f", with {count(by['warn'], 'warning')}" if by["warn"] else ""
    return f"{who} passed {count(by['ok'] + by['warn'], 'check')}{warned}"
