"""What a text report may know beside the report itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proxyaudit.core.report import Report


@dataclass(frozen=True, slots=True)
class Background:
    """`numbers`: turn by exchange id, at either tap. `families`: family by rule name.

    `verbose`: leave nothing out.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    verbose: bool = False

    def family(self, rule: str) -> str:
        return self.families.get(rule) or rule.partition(".")[0]


def taps(report: Report) -> dict[str, int]:
    """How many exchanges were seen at each tap, where the report says so."""
    counts = report.measurements.get("exchanges")
    if not isinstance(counts, dict):
        return {}
    return {tap: n for tap, n in counts.items() if isinstance(n, int) and n}
