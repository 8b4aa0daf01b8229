"""Audit recordings: from names and paths to reports."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from proxyaudit.core.errors import UserError
from proxyaudit.core.finding import Severity, at_least
from proxyaudit.core.report import Report
from proxyaudit.engine import Audited, audit
from proxyaudit.rules.base import Rule
from proxyaudit.store.find import resolve
from proxyaudit.store.read import open_recording
from proxyaudit.store.segments import is_recording
from proxyaudit.workflows.selection import with_facts
from proxyaudit.workflows.settings import Settings, stated

_NO_SETTINGS = Settings()


class Judged(NamedTuple):
    """A report, and the turn number of each exchange in it, at either tap."""

    report: Report
    numbers: dict[str, int]


def audit_target(
    target: str,
    root: Path,
    *,
    rules: Sequence[Rule] | None = None,
    facts: Sequence[str] = (),
    settings: Settings = _NO_SETTINGS,
) -> Audited:
    """Audit one recording: a path, or a name (or `latest`) under `root`. Raises UserError.

    `facts` are stated as NAME=VALUE. They win over those of the settings, and these over those of
    the recording.
    """
    recording = open_recording(resolve(target, root))
    assume = with_facts(stated(recording.assume, settings), facts)
    return audit(replace(recording, assume=assume), rules)


def audit_all(
    targets: Sequence[str],
    root: Path,
    *,
    rules: Sequence[Rule] | None = None,
    facts: Sequence[str] = (),
    settings: Settings = _NO_SETTINGS,
) -> Iterator[Judged]:
    """A report for each input, in order.

    One that cannot be read gets an inconclusive report, so that it does not spoil the others; if
    it is the only one, its UserError is raised.
    """
    for target in targets:
        try:
            audited = audit_target(target, root, rules=rules, facts=facts, settings=settings)
        except UserError as error:
            if len(targets) == 1:
                raise
            yield Judged(_unreadable(target, error), {})
        else:
            yield Judged(audited.report, audited.numbers)


def exit_code(reports: Sequence[Report], fail_on: Severity | None) -> int:
    """2 if anything could not be judged, 1 for findings at or above a severity, else 0."""
    if any(report.verdict == "inconclusive" for report in reports):
        return 2
    found = [finding.severity for report in reports for finding in report.findings]
    return int(fail_on is not None and any(at_least(s, fail_on) for s in found))


def keep_recordings(output: Path, targets: Sequence[str], root: Path) -> None:
    """UserError if a report written to `output` would replace an input, or part of a recording."""
    hint = "choose another --output: a report must not replace a recording"
    if any(is_recording(folder) for folder in output.resolve().parents):
        raise UserError(f"{output} is inside a recording", hint)
    for target in targets:
        try:
            path = resolve(target, root)
        except UserError:
            continue  # it is not there; the audit says so
        if output.exists() and output.samefile(path):
            raise UserError(f"{output} is the recording to audit", hint)


def _unreadable(target: str, error: UserError) -> Report:
    hint = f" ({error.hint})" if error.hint else ""
    return Report(
        target=target,
        verdict="inconclusive",
        headline=f"Nothing could be judged: {error.message}.",
        flaws=[f"{error.message}{hint}"],
    )
