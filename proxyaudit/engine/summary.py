"""From findings to the report: merge what lasts over several turns, and say the verdict."""

from collections.abc import Iterable, Sequence

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.finding import SEVERITIES, Finding, Place
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Recording
from proxyaudit.core.report import (
    Checked,
    Report,
    ReportedConversation,
    ReportedFinding,
    ReportedPlace,
)
from proxyaudit.engine.accounting import account_json, accounts
from proxyaudit.engine.subjects import Subjects
from proxyaudit.engine.verdict import judged

# The family that says most about who lost the context comes first in the headline.
_FAMILIES = ("history", "system", "reasoning", "tools", "context", "content", "model", "stream")
_ALSO = 5


def report(
    recording: Recording,
    found: Subjects,
    findings: Sequence[Finding],
    checked: list[Checked],
    breaks: Sequence[str],
) -> Report:
    """The report of one recording."""
    places = _Places(found)
    merged = _merged(findings, places)
    alarms = [f for f in merged if f.severity != "info"]
    verdict, headline = judged(recording, found, alarms, checked)
    return Report(
        target=recording.target,
        verdict=verdict,
        headline=headline,
        conversations=[_conversation(c, found) for c in found.conversations],
        findings=merged,
        checked=checked,
        measurements=_measurements(found),
        flaws=[*(f"{f.where}: {f.message}" for f in recording.flaws), *breaks],
    )


class _Places:
    """Which conversation and turn an exchange belongs to, whichever tap saw it."""

    def __init__(self, found: Subjects) -> None:
        self.order = {
            id_: n for n, id_ in enumerate([*(e.id for e in found.exchanges), *found.turns])
        }
        self.turn = found.turn_numbers()
        self.conversation = {id_: c.id for c in found.conversations for id_ in c.exchanges}
        for client, hop in found.hops.items():
            owner = self.conversation.get(client, "")
            self.conversation |= {turn.id: owner for turn in hop.upstream}


def _merged(findings: Iterable[Finding], places: _Places) -> list[ReportedFinding]:
    """One entry for a fault that lasts over several exchanges, with all its places."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        first = finding.places[0]
        conversation = places.conversation.get(first.exchange, "")
        key = (finding.rule, finding.suspect, finding.severity, conversation, first.side)
        groups.setdefault(key, []).append(finding)
    merged = [_one(group, places) for group in groups.values()]
    return sorted(merged, key=lambda f: _rank(f, places))


def _one(group: list[Finding], places: _Places) -> ReportedFinding:
    group = sorted(group, key=lambda f: places.order.get(f.places[0].exchange, 0))
    first = group[0]
    evidence: dict[str, JSON] = dict(first.evidence)
    if len(group) > 1:
        others: list[JSON] = [
            *dict.fromkeys(f.message for f in group if f.message != first.message)
        ]
        evidence["also"] = others[:_ALSO]
        evidence["times"] = len(group)
    exchange = first.places[0].exchange
    return ReportedFinding(
        rule=first.rule,
        severity=first.severity,
        confidence=first.confidence,
        suspect=first.suspect,
        message=first.message,
        places=[_place(p) for p in dict.fromkeys(p for f in group for p in f.places)],
        before=[_place(p) for p in dict.fromkeys(p for f in group for p in f.before)],
        conversation=places.conversation.get(exchange),
        turn=places.turn.get(exchange),
        evidence=evidence,
    )


def _place(place: Place) -> ReportedPlace:
    return ReportedPlace(exchange=place.exchange, side=place.side, pointer=place.pointer)


def _rank(finding: ReportedFinding, places: _Places) -> tuple[int, int, int]:
    family = _family(finding.rule)
    weight = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
    order = places.order.get(finding.places[0].exchange, 0)
    return (-SEVERITIES.index(finding.severity), weight, order)


def _family(rule: str) -> str:
    prefix = rule.partition(".")[0]
    return {"message": "history", "tool": "tools"}.get(prefix, prefix)


def _conversation(conversation: Conversation, found: Subjects) -> ReportedConversation:
    """A conversation with its recorded exchanges: a websocket is one, however many turns it has."""
    recorded = (found.turns[id_].recorded_id for id_ in conversation.exchanges)
    return ReportedConversation(
        id=conversation.id,
        parent=conversation.parent,
        kind=conversation.kind,
        exchanges=list(dict.fromkeys(recorded)),
        session=conversation.session,
        turns=len(conversation.turns),
        purpose=conversation.purpose,
    )


def _measurements(found: Subjects) -> dict[str, JSON]:
    taps: dict[str, JSON] = {}
    for tap in ("client", "upstream"):
        taps[tap] = sum(e.tap == tap for e in found.exchanges)
    reasons: dict[str, JSON] = {}
    for reason in found.unread.values():
        count = reasons.get(reason, 0)
        reasons[reason] = (count if isinstance(count, int) else 0) + 1
    upstream = {id_: hop.answered for id_, hop in found.hops.items()}
    return {
        "exchanges": taps,
        "turns": len(found.threaded),
        "not_turns": reasons,
        "tokens": [account_json(a) for a in accounts(found.conversations, upstream)],
    }
