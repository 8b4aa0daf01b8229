"""The report as JSON (`proxyaudit.report/1`, design section 5)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from proxyaudit.core.finding import Confidence, Severity, Suspect
from proxyaudit.core.json import JSON

type Verdict = Literal["clean", "findings", "inconclusive"]

SCHEMA = "proxyaudit.report/1"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReportedPlace(_Value):
    exchange: str
    side: str
    pointer: str


class ReportedFinding(_Value):
    rule: str
    severity: Severity
    confidence: Confidence
    suspect: Suspect
    message: str
    places: list[ReportedPlace]
    before: list[ReportedPlace] = []
    conversation: str | None = None
    turn: int | None = Field(default=None, description="number of the first turn, from 1")
    evidence: dict[str, JSON] = {}


class ReportedConversation(_Value):
    id: str
    parent: str | None
    kind: Literal["main", "side", "subagent"]
    exchanges: list[str]
    session: str | None = None
    turns: int = 0
    purpose: str = ""


class Checked(_Value):
    rule: str
    subjects: int
    skipped: dict[str, int] = {}
    broke: int = 0


class Report(_Value):
    """What one audit found, what it checked and what it could not check."""

    target: str
    verdict: Verdict
    headline: str = ""
    conversations: list[ReportedConversation] = []
    findings: list[ReportedFinding] = []
    checked: list[Checked] = []
    measurements: dict[str, JSON] = {}
    flaws: list[str] = []


class ReportDocument(BaseModel):
    """The whole of `--format json`: one report for each input, in order."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_: Literal["proxyaudit.report/1"] = Field(default="proxyaudit.report/1", alias="schema")
    reports: list[Report]
