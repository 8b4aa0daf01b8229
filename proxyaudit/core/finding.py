"""Findings and places: what a rule says, and where it points."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proxyaudit.core.json import JSON

type Severity = Literal["error", "warn", "info"]
type Confidence = Literal["certain", "likely", "possible"]
type Suspect = Literal["harness", "proxy", "server", "upstream", "model", "unknown"]

SEVERITIES: tuple[Severity, ...] = ("info", "warn", "error")


def at_least(severity: Severity, level: Severity) -> bool:
    """Whether a severity reaches a level."""
    return SEVERITIES.index(severity) >= SEVERITIES.index(level)


@dataclass(frozen=True, slots=True)
class Place:
    """Exchange id, side (`client.request`, …) and JSON pointer (RFC 6901) into the body.

    Of a later turn on a websocket the id is that of the turn, `<exchange>#2` (`core.turn.Turn`).

    Two words stand at the start of a pointer for what is not in a JSON body: /headers/NAME and
    /stream/N (event N from 0); /status is the status.
    """

    exchange: str
    side: str
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found. The first place is where it shows; `before` is what it is compared with.

    `evidence` holds JSON values; `before` and `after` in it are texts that a report shows as a
    word-level diff, `text` is shown as a quotation; `lost` and `of` count messages.
    """

    rule: str
    severity: Severity
    suspect: Suspect
    message: str
    places: tuple[Place, ...]
    before: tuple[Place, ...] = ()
    confidence: Confidence = "certain"
    evidence: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skip:
    """A rule that lacks its evidence yields this instead of a finding."""

    reason: str
