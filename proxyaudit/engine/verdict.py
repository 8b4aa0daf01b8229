"""The verdict in a word, and in a sentence that promises no more than was seen."""

import re
from collections.abc import Sequence

from proxyaudit.core.recording import Recording
from proxyaudit.core.report import Checked, ReportedFinding, Verdict
from proxyaudit.engine.subjects import Subjects
from proxyaudit.rules.base import all_rules
from proxyaudit.rules.wording import count

_SUSPECTS = {
    "harness": "the harness",
    "proxy": "the proxy",
    "server": "the server",
    "upstream": "the proxy or the server",
    "model": "the model",
}
_SINCE = " since the last turn"


def judged(
    recording: Recording,
    found: Subjects,
    alarms: Sequence[ReportedFinding],
    checked: Sequence[Checked],
) -> tuple[Verdict, str]:
    """Findings; or clean, if something could be judged; else inconclusive. And the headline."""
    if alarms:
        return "findings", _accusation(alarms[0])
    unread = _unread(recording)
    obstacle = _obstacle(recording, found, checked)
    if obstacle:
        return "inconclusive", f"Nothing could be judged: {obstacle}.{unread}"
    selected = not {rule.name for rule in all_rules()} <= {c.rule for c in checked}
    return "clean", _acquittal(found, selected) + unread


def _obstacle(recording: Recording, found: Subjects, checked: Sequence[Checked]) -> str:
    """Why an empty list of findings says nothing; empty if it says something."""
    if not found.threaded:
        n = len(found.exchanges)
        none = "no exchange is" if n == 1 else f"none of {n} exchanges is"
        return f"{none} a request to a language model that can be read"
    if not found.comparisons and not any(turn.ok for turn in found.threaded):
        n = len(found.threaded)
        which = "the only request" if n == 1 else f"none of {n} requests"
        return f"{which} got {'no' if n == 1 else 'a'} whole reply"
    if not any(c.subjects - sum(c.skipped.values()) - c.broke > 0 for c in checked):
        return "no rule was run" if not checked else "no rule found anything to look at"
    if recording.about.get("backend") and not found.two_taps:
        silent = "client" if found.threaded[0].exchange.tap == "upstream" else "upstream"
        return f"the {silent} tap was open and saw nothing, so the proxy was not in the path"
    return ""


def _acquittal(found: Subjects, selected: bool) -> str:
    turns = count(len(found.threaded), "turn")
    mains = count(sum(c.kind != "side" for c in found.conversations), "conversation")
    taps = "at both taps" if found.two_taps else "at one tap"
    anew = sum(c.restarts is not None for c in found.conversations)
    if anew:
        begin = "begins" if anew == 1 else "begin"
        return (
            f"No loss was found within {turns} of {mains} seen {taps}; but {anew} of them {begin} "
            "anew where another had ended: if they were one to you, the history was lost."
        )
    if selected:
        return f"The selected rules found nothing in {turns} of {mains} seen {taps}."
    return f"No context was lost: {turns} of {mains} seen {taps}."


def _unread(recording: Recording) -> str:
    n = len(recording.flaws)
    return f" ({count(n, 'flaw')} in the recording, see below.)" if n else ""


def _accusation(top: ReportedFinding) -> str:
    text = top.message[:1].upper() + top.message[1:]
    turn = f" at turn {top.turn}" if top.turn else ""
    if turn and _SINCE in text:
        text, turn = (
            text.replace(_SINCE, f" between turns {(top.turn or 1) - 1} and {top.turn}"),
            "",
        )
    again = len({p.exchange for p in top.places}) - 1
    lasts = again > 1 and top.evidence.get("times", 1) != 1
    later = f", and again in {again} later turns" if lasts else ""
    who = _SUSPECTS.get(top.suspect, "")
    named = not who or re.search(rf"\b{who}\b", text, re.IGNORECASE) is not None
    return f"{text}{turn}{later}." + ("" if named else f" Suspect: {who}.")
