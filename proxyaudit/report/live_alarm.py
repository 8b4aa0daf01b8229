"""An alarm while traffic goes on: as lines for people, and as JSON for programs."""

import shlex
from collections.abc import Mapping

from proxyaudit.core.finding import Place
from proxyaudit.core.json import JSON
from proxyaudit.engine.watch import Alert
from proxyaudit.report.safe import safe, safe_line

ALARM_SCHEMA = "proxyaudit.alarm/1"
_MESSAGE = 300
_SUSPECTS = {
    "upstream": "the proxy or the server",
    "unknown": "unknown",
}


def alarm_lines(alert: Alert, recording: str) -> tuple[str, str]:
    """What happened, who is suspected and where, in one line; in a second one what to type next."""
    finding = alert.finding
    who = _SUSPECTS.get(finding.suspect, f"the {finding.suspect}")
    where = f"exchange {safe_line(finding.places[0].exchange, 40)}"
    if alert.turn:
        where = f"turn {alert.turn} of {safe_line(alert.conversation or '', 24)}, {where}"
    early = ", before the model answered" if alert.early else ""
    message = safe_line(finding.message, _MESSAGE)
    return (
        f"{finding.severity.upper()}  {finding.rule}: {message}. Suspect: {who}; {where}{early}.",
        f"  {alarm_hint(alert, recording)}",
    )


def alarm_hint(alert: Alert, recording: str) -> str:
    """The command that shows more; it can be typed while the recorder runs."""
    name = safe(shlex.quote(recording))
    finding = alert.finding
    if not alert.turn or not alert.conversation:
        exchange = safe(shlex.quote(finding.places[0].exchange))
        return f"proxyaudit show {name} {exchange}"
    where = f"{name} {safe(shlex.quote(alert.conversation))}"
    taps = {place.side.partition(".")[0] for place in (*finding.places, *finding.before)}
    if len(taps) > 1:
        return f"proxyaudit diff {where} --hop --turn {alert.turn}"
    if alert.turn > 1 and finding.before:
        return f"proxyaudit diff {where} --turn {alert.turn - 1}"
    return f"proxyaudit show {where} --turn {alert.turn}"


def alarm_json(alert: Alert, recording: str) -> dict[str, JSON]:
    """All of a finding, and where it belongs; evidence holds excerpts of the traffic."""
    finding = alert.finding
    return {
        "schema": ALARM_SCHEMA,
        "recording": recording,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "suspect": finding.suspect,
        "message": finding.message,
        "conversation": alert.conversation,
        "turn": alert.turn,
        "before_reply": alert.early,
        "again": alert.again,
        "places": [_place(place) for place in finding.places],
        "before": [_place(place) for place in finding.before],
        "evidence": dict(finding.evidence),
    }


def alarm_environment(alert: Alert, recording: str) -> Mapping[str, str]:
    """The same in short, for a command that does not read JSON: PROXYAUDIT_ALARM_…"""
    finding = alert.finding
    said = {
        "RULE": finding.rule,
        "SEVERITY": finding.severity,
        "SUSPECT": finding.suspect,
        "MESSAGE": safe_line(finding.message, _MESSAGE),
        "RECORDING": safe(recording),
        "EXCHANGE": safe_line(finding.places[0].exchange, 80),
        "CONVERSATION": safe_line(alert.conversation or "", 80),
        "TURN": str(alert.turn or ""),
    }
    return {f"PROXYAUDIT_ALARM_{name}": value for name, value in said.items()}


def _place(place: Place) -> JSON:
    return {"exchange": place.exchange, "side": place.side, "pointer": place.pointer}
