"""Run every rule on every subject it looks at, and write the report.

A rule that raises becomes the outcome `broke`, never a crash: one bad rule must not cost the user
the findings of all the others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Finding, Skip, Suspect
from proxyaudit.core.recording import Recording
from proxyaudit.core.report import Checked, Report
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.engine.attribute import attribute
from proxyaudit.engine.subjects import Subjects, subjects
from proxyaudit.engine.summary import report
from proxyaudit.engine.twins import told_once
from proxyaudit.harnesses.base import harness_of
from proxyaudit.rules.base import Facts, Found, Rule, Subject, all_rules

_HOP = frozenset({Relation.FORWARDED, Relation.RETURNED})


@dataclass(frozen=True, slots=True)
class Audited:
    """An audit: the report, and what it was made from, for those who want to look closer.

    `turns` is by exchange id; `unread` says why an exchange is no turn; `pairs` gives the upstream
    exchange ids of a client exchange; `numbers` the number of the turn of an exchange at any tap.
    """

    report: Report
    conversations: tuple[Conversation, ...]
    comparisons: tuple[Comparison, ...]
    turns: dict[str, Turn]
    unread: dict[str, str]
    pairs: dict[str, tuple[str, ...]]
    numbers: dict[str, int]


@dataclass(slots=True)
class Tally:
    """How often a rule ran, was skipped (by reason), and broke."""

    subjects: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    broke: int = 0


@dataclass(slots=True)
class _Run:
    target: str
    facts: Facts
    tallies: dict[str, Tally] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    breaks: list[str] = field(default_factory=list)

    def tally(self, rule: Rule) -> Tally:
        return self.tallies.setdefault(rule.name, Tally())

    def check(self, rule: Rule, subject: Subject) -> list[Found]:
        """Run one rule on one subject; skips and breaks are counted here."""
        tally = self.tally(rule)
        tally.subjects += 1
        try:
            outcomes = list(rule.check(subject, self.facts))
        except Exception as error:
            tally.broke += 1
            kind = type(error).__name__
            self.breaks.append(f"rule {rule.name} broke on {_name(subject)}: {kind}: {error}")
            return []
        for outcome in outcomes:
            if isinstance(outcome, Skip):
                tally.skipped[outcome.reason] += 1
        return [o for o in outcomes if isinstance(o, Found)]

    def found(self, rule: Rule, found: Found, suspect: Suspect) -> None:
        self.findings.append(
            Finding(
                rule.name,
                found.severity or rule.severity,
                found.suspect or suspect,
                found.message,
                found.places,
                found.before,
                found.confidence,
                found.evidence,
            )
        )


def audit(recording: Recording, rules: Sequence[Rule] | None = None) -> Audited:
    """Audit a recording with all rules, or with those given."""
    found = subjects(recording)
    run = _Run(recording.target, Facts(recording.assume))
    for rule in all_rules() if rules is None else rules:
        run.tally(rule)
        _apply(rule, found, run)
    checked = [
        Checked(rule=name, subjects=t.subjects, skipped=dict(t.skipped), broke=t.broke)
        for name, t in run.tallies.items()
    ]
    return Audited(
        report(recording, found, run.findings, checked, run.breaks),
        tuple(found.conversations),
        tuple(found.comparisons),
        found.turns,
        found.unread,
        {id_: tuple(t.id for t in hop.upstream) for id_, hop in found.hops.items()},
        found.turn_numbers(),
    )


def _apply(rule: Rule, found: Subjects, run: _Run) -> None:
    if rule.on is Turn:
        for turn in found.by_conversation():
            _on_turn(rule, turn, found, run)
    elif rule.on is Traffic:
        _on_traffic(rule, found, run)
    elif rule.on is Comparison:
        _on_comparisons(rule, found, run)
    elif rule.on is Conversation:
        for conversation in found.conversations:
            _on_conversation(rule, conversation, found, run)
    elif rule.on is Exchange:
        for result, suspect in told_once([(e, run.check(rule, e)) for e in found.exchanges]):
            run.found(rule, result, suspect)


def _on_comparisons(rule: Rule, found: Subjects, run: _Run) -> None:
    for comparison in found.comparisons:
        if comparison.relation in rule.relations:
            for result in run.check(rule, comparison):
                run.found(rule, softened(rule, comparison, result, run.facts), comparison.suspect)
    if not rule.relations & _HOP:
        return
    alone = sum(t.id not in found.hops for t in found.threaded)
    if alone:
        why = "not seen at the upstream tap" if found.two_taps else "only one tap was recorded"
        tally = run.tally(rule)
        tally.subjects += alone
        tally.skipped[f"across the hop: {why}"] += alone


def softened(rule: Rule, comparison: Comparison, found: Found, facts: Facts) -> Found:
    """A harness that builds its history anew each time makes no promise that it could break."""
    if comparison.relation is not Relation.NEXT_TURN or rule.family not in ("history", "cache"):
        return found
    harness = harness_of(comparison.left.exchange, facts.assume.harness)
    return replace(found, severity="info") if harness.rewrites else found


def _on_turn(rule: Rule, turn: Turn, found: Subjects, run: _Run) -> None:
    hop = found.hops.get(turn.id)
    here = run.check(rule, turn)
    # What a second tap was there to see and did not see, the proxy answered itself.
    there = run.check(rule, hop.answered) if hop else [] if found.two_taps else None
    _tell(rule, turn, here, there, run)


def _on_conversation(rule: Rule, conversation: Conversation, found: Subjects, run: _Run) -> None:
    """The same turns as the second tap saw them are looked at too, and told apart turn by turn."""
    hops = [found.hops.get(turn.id) for turn in conversation.turns]
    beyond = replace(conversation, turns=[hop.answered for hop in hops if hop])
    here = _by_exchange(run.check(rule, conversation))
    there = _by_exchange(run.check(rule, beyond)) if beyond.turns else {}
    for turn, hop in zip(conversation.turns, hops, strict=True):
        second = there.get(hop.answered.id, []) if hop else [] if found.two_taps else None
        _tell(rule, turn, here.get(turn.id, []), second, run)


def _on_traffic(rule: Rule, found: Subjects, run: _Run) -> None:
    """Both taps are looked at, each as a whole; the two of one request are then told apart."""
    name = run.target
    upstream = found.traffic_upstream(name)
    here = _by_exchange(run.check(rule, found.traffic(name)))
    there = _by_exchange(run.check(rule, upstream)) if upstream else {}
    for turn in found.threaded:
        hop = found.hops.get(turn.id)
        second = there.get(hop.answered.id, []) if hop else [] if upstream else None
        _tell(rule, turn, here.get(turn.id, []), second, run)


def _by_exchange(results: Sequence[Found]) -> dict[str, list[Found]]:
    grouped: dict[str, list[Found]] = {}
    for result in results:
        grouped.setdefault(result.places[0].exchange, []).append(result)
    return grouped


def _tell(
    rule: Rule, turn: Turn, here: Sequence[Found], there: Sequence[Found] | None, run: _Run
) -> None:
    for result, suspect in attribute(turn, here, there):
        run.found(rule, result, suspect)


def _name(subject: Subject) -> str:
    match subject:
        case Comparison():
            return f"{subject.relation} of {subject.left.id} and {subject.right.id}"
        case _:
            return f"{type(subject).__name__.lower()} {subject.id}"
