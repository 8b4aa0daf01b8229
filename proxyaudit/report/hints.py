"""The next command to type."""

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from proxyaudit.core.report import Report, ReportedFinding
from proxyaudit.report.findings import by_severity
from proxyaudit.report.safe import safe


class Hint(NamedTuple):
    """A command, and what it is good for."""

    command: str
    why: str


def hints(report: Report) -> list[Hint]:
    """What to type next, the most useful first."""
    name = safe(shlex.quote(report.target))
    alarms = [f for f in by_severity(report.findings) if f.severity != "info"]
    if alarms:
        return list(_after(report, alarms[0], name))
    if report.verdict == "inconclusive":
        return [
            Hint(f"proxyaudit show {name}", "what was recorded"),
            Hint("proxyaudit record --help", "how to put the recorder in between"),
        ]
    return [
        Hint(f"proxyaudit show {name}", "the conversations and their turns"),
        Hint(f"proxyaudit replay {name} --target URL", "ask again and compare the answers"),
    ]


def _after(report: Report, finding: ReportedFinding, name: str) -> Iterator[Hint]:
    where = f"{name}{_conversation(report, finding)}"
    taps = {p.side.partition(".")[0] for p in (*finding.places, *finding.before)}
    if finding.turn and len(taps) > 1:
        yield Hint(
            f"proxyaudit diff {where} --hop --turn {finding.turn}", "both sides of the proxy"
        )
    elif finding.turn and finding.turn > 1 and finding.before:
        yield Hint(
            f"proxyaudit diff {where} --turn {finding.turn - 1}",
            f"turn {finding.turn - 1} against turn {finding.turn}",
        )
    if finding.turn:
        yield Hint(f"proxyaudit show {where} --turn {finding.turn}", "the whole exchange")
    else:
        exchange = safe(shlex.quote(finding.places[0].exchange))
        yield Hint(f"proxyaudit show {name} {exchange}", "the whole exchange")
    yield Hint(f"proxyaudit rule {safe(finding.rule)}", "why it matters, where to look")
    if finding.suspect != "harness":
        yield Hint(f"proxyaudit replay {name} --target URL", "the same requests, without the proxy")


def _conversation(report: Report, finding: ReportedFinding) -> str:
    """The conversation as an argument, where `--turn N` alone would not say which one."""
    if finding.conversation is None or len(report.conversations) < 2:
        return ""
    return f" {safe(shlex.quote(finding.conversation))}"
