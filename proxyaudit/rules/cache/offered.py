"""How the tools of a request differ from those of the one before it."""

from collections.abc import Mapping
from operator import is_
from typing import NamedTuple

from proxyaudit.core.finding import Severity
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Tool, Turn
from proxyaudit.dialects.fields import dump, plain
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.cache.drift import drift
from proxyaudit.rules.wording import around, count

_FIELD = b'"tools"'


class ToolsChange(NamedTuple):
    """What became of the tools, in words; `severity` None is the rule's own."""

    text: str
    severity: Severity | None
    evidence: Mapping[str, JSON]


def tools_changed(left: Turn, right: Turn) -> ToolsChange | None:
    """The change that matters most; None if the model is shown the same tools."""
    old, new = left.prompt.tools, right.prompt.tools
    if not old or not new:
        return None
    names, others = [t.name for t in old], [t.name for t in new]
    if sorted(names) != sorted(others):
        come, gone = set(others) - set(names), set(names) - set(others)
        before: list[JSON] = [*sorted(gone)]
        after: list[JSON] = [*sorted(come)]
        text = f"{count(len(come), 'tool')} came and {len(gone)} went"
        return ToolsChange(text, "info", {"came": after, "went": before})
    if names != others:
        shown: dict[str, JSON] = {"before": ", ".join(names), "after": ", ".join(others)}
        return ToolsChange("its tools stand in another order", None, shown)
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a.definition != b.definition]
    if changed:
        return _redefined(changed)
    if _spelt_alike(left, right):
        return None
    return ToolsChange("the keys of its tools stand in another order", None, {})


def _redefined(changed: list[tuple[Tool, Tool]]) -> ToolsChange:
    dated = all(drift(a.definition, b.definition) == "date" for a, b in changed)
    names = ", ".join(f"“{b.name}”" for _, b in changed[:3])
    first, second = changed[0]
    return ToolsChange(
        f"the definition of {count(len(changed), 'tool')} is another one ({names})",
        "info" if dated else None,
        around(first.definition, second.definition),
    )


def _spelt_alike(left: Turn, right: Turn) -> bool:
    """Whether the tools are the same JSON, the order of keys included.

    Nearly always they were read as the same objects, or the bytes of one request are found in the
    next, and nothing has to be parsed.
    """
    if all(map(is_, left.prompt.tools, right.prompt.tools)):
        return True
    a, b = left.exchange.request.body, right.exchange.request.body
    start = a.find(_FIELD)
    if start < 0 or a[start : start + sum(len(t.definition) for t in left.prompt.tools)] in b:
        return True
    return _dumped(left) == _dumped(right)


def _dumped(turn: Turn) -> str:
    body = body_json(turn.exchange.request)
    return dump(plain(body.get("tools"))) if isinstance(body, dict) else ""
