"""Real clients' traffic: what must be reported is, nothing else is alarmed, threads are right."""

from dataclasses import dataclass, field

import pytest
from shared import CAPTURES, SHARED, needs_captures

from proxyaudit.engine import audit
from proxyaudit.rules.base import all_rules
from proxyaudit.store.read import open_recording


@dataclass(frozen=True)
class Expected:
    """Turns of each main conversation or subagent, number of side requests, rules at warn or error."""

    turns: list[int]
    sides: int = 1
    must: frozenset[str] = frozenset()
    may: frozenset[str] = field(default_factory=frozenset)


HISTORY = frozenset({"message.rewritten", "content.part_dropped", "cache.prefix_broken"})
EXPECTED = {
    "oc-single": Expected([3]),
    "oc-continue": Expected([7]),
    "oc-parallel": Expected([3]),
    "oc-subagent": Expected([2, 2]),
    "oc-compaction": Expected([8], sides=2),
    "oc-plan-build": Expected([5], may=HISTORY),
    "oc-abort-stream": Expected([5]),
    "oc-cut-stream": Expected(
        [2], must=frozenset({"stream.truncated"}), may=frozenset({"stream.done_missing"})
    ),
    "oc-retry": Expected([2]),
    "oc-reasoning-interleaved": Expected([6]),
    "oc-think-tags": Expected([6], must=frozenset({"reasoning.in_content"})),
    "oc-anthropic": Expected([6]),
    "oc-responses": Expected([6]),
    "oc-toolerr": Expected(
        [3],
        must=frozenset({"tool.name_invalid"}),
        may=frozenset({"tool.arguments_changed", "tool.arguments_invalid"}),
    ),
    "pi-chat": Expected([6], sides=0),
    "pi-anthropic": Expected([6], sides=0),
    "codex-ttt": Expected([6], sides=0),
    "codex-ws-on": Expected([6], sides=0),
    "qwen-ttt": Expected([6], sides=0, may=HISTORY),
    # The refused request is a thread of one.
    "sdk-python": Expected(
        [2, 2, 2, 2, 1],
        sides=0,
        must=frozenset({"reasoning.swallowed_answer"}),
        may=frozenset({"output.empty", "output.foreign_content"}),
    ),
    "aider-chat": Expected(
        [2],
        sides=2,
        may=frozenset(
            {
                *(r.name for r in all_rules() if r.family in {"history", "cache"}),
                "reasoning.in_content",
                "output.foreign_content",
            }
        ),
    ),
}


@needs_captures
@pytest.mark.parametrize("name", EXPECTED)
def test_capture(name: str) -> None:
    """As the captures' own table says."""
    path = SHARED / "captures" / f"{name}.flow"
    assert path in CAPTURES
    audited = audit(open_recording(path))
    wanted = EXPECTED[name]
    threads = sorted(
        (len(c.turns) for c in audited.conversations if c.kind != "side"), reverse=True
    )
    assert threads == wanted.turns
    assert sum(c.kind == "side" for c in audited.conversations) == wanted.sides
    alarms = {f.rule for f in audited.report.findings if f.severity != "info"}
    assert wanted.must <= alarms
    assert alarms <= wanted.must | wanted.may
    assert audited.report.flaws == []


@needs_captures
def test_a_subagent_is_linked_to_the_conversation_that_started_it() -> None:
    audited = audit(open_recording(SHARED / "captures" / "oc-subagent.flow"))
    child = next(c for c in audited.conversations if c.kind == "subagent")
    parent = next(c for c in audited.conversations if c.id == child.parent)
    assert parent.kind == "main"


@needs_captures
def test_a_compaction_is_told_at_info() -> None:
    audited = audit(open_recording(SHARED / "captures" / "oc-compaction.flow"))
    assert [f.rule for f in audited.report.findings if f.rule == "history.compacted"]
