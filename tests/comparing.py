"""Run one rule on two turns, as the engine would."""

from functools import partial

from proxyaudit.compare.relation import forwarded, next_turn
from proxyaudit.compare.thread import Threader
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.recording import Assume
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, all_rules

LABEL = (("x-session-id", "s-1"),)


def compared(*turns: Turn) -> Comparison:
    """The last turn against the one it goes on from."""
    threader = Threader()
    placed = [threader.place(t) for t in turns][-1]
    found = next_turn(placed, turns[-1], partial(threader.side_texts, placed.conversation))
    assert found is not None, "nothing to compare: the last turn begins a conversation"
    return found


def across_turns(rule: str, *turns: Turn, assume: Assume | None = None) -> list[Found]:
    """What a rule finds between the last turn and the one it goes on from."""
    return _run(rule, compared(*turns), assume)


def across_hop(rule: str, client: Turn, upstream: Turn) -> list[Found]:
    """What a rule finds between the client tap and the upstream tap."""
    return _run(rule, forwarded(client, upstream), None)


def _run(rule: str, comparison: Comparison, assume: Assume | None) -> list[Found]:
    checks = [
        r
        for r in all_rules()
        if r.name == rule and r.on is Comparison and comparison.relation in r.relations
    ]
    assert checks, f"no rule {rule} for {comparison.relation}"
    facts = Facts(assume or Assume())
    return [o for r in checks for o in r.check(comparison, facts) if isinstance(o, Found)]
