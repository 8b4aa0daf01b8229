"""The report, and other results, as JSON that is safe to print."""

import json
import math
from collections.abc import Sequence
from typing import Any

from proxyaudit.core.json import JSON
from proxyaudit.core.report import Report, ReportDocument
from proxyaudit.report.safe import safe_json


def report_json(reports: Sequence[Report]) -> str:
    """The document `proxyaudit.report/1`: one report for each input, in order."""
    return to_json(ReportDocument(reports=list(reports)).model_dump(mode="python"))


def to_json(value: Any) -> str:
    """Indented JSON. Numbers that JSON cannot hold become text; control characters, escapes."""
    return safe_json(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> JSON:
    match value:
        case dict():
            return {str(key): _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
