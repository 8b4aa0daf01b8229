"""Play a recording to a watch, as it happened, and say what was told when."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Recording
from proxyaudit.engine import audit
from proxyaudit.engine.watch import Alert, Watcher
from proxyaudit.rules.base import Facts, all_rules

# What a request shows by itself; their rules compare one request with another.
WATCHED = frozenset(r.name for r in all_rules() if r.family == "history" and r.relations)


class Told(NamedTuple):
    """A rule's word on an exchange."""

    rule: str
    severity: str
    suspect: str
    exchange: str


@dataclass
class Watched:
    """What was told at the request itself, what before the reply had ended, and in all."""

    watcher: Watcher
    at_request: set[Told] = field(default_factory=set)
    told: set[Told] = field(default_factory=set)
    alerts: list[Alert] = field(default_factory=list)


def watched(recording: Recording) -> Watched:
    """What a watch says of the exchanges of a recording in the order of their time."""
    seen = Watched(Watcher(Facts(recording.assume)))
    for begins, exchange in moments(recording.exchanges):
        if begins:
            alerts = seen.watcher.begin(replace(exchange, response=None, end="complete"))
            own = [a for a in alerts if a.finding.places[0].exchange == exchange.id]
            seen.at_request |= set(_of(own))
        else:
            _, alerts = seen.watcher.end(exchange)
        seen.told |= set(_of(alerts))
        seen.alerts += alerts
    return seen


def moments(exchanges: Sequence[Exchange]) -> Iterator[tuple[bool, Exchange]]:
    """(whether it begins, exchange) in order of time."""
    at: list[tuple[float, bool, int]] = []
    for number, exchange in enumerate(exchanges):
        took = exchange.response.ended_at if exchange.response else None
        at.append((exchange.started_at, True, number))
        at.append((exchange.started_at + (took or 0.0), False, number))
    # At one moment what began first is first; an end comes before another's beginning.
    order = sorted(at, key=lambda m: (m[0], m[1] and at[2 * m[2] + 1][0] > m[0], m[2], not m[1]))
    for _, begins, number in order:
        if exchanges[number].websocket is None or not begins:
            yield begins, exchanges[number]


def audited(recording: Recording) -> set[Told]:
    """What the audit says of the same recording, for rules that a watch runs."""
    found = audit(recording).report.findings
    return {
        Told(f.rule, f.severity, f.suspect, place.exchange) for f in found for place in f.places
    }


def alarmed(told: Iterable[Told], rules: frozenset[str] | None = None) -> set[Told]:
    """Those at warn or error, of some rules or of all."""
    return {t for t in told if t.severity != "info" and (rules is None or t.rule in rules)}


def _of(alerts: Iterable[Alert]) -> Iterator[Told]:
    for alert in alerts:
        finding = alert.finding
        for place in finding.places:
            yield Told(finding.rule, finding.severity, finding.suspect, place.exchange)
