"""What a test of transparency found: can a proxy be noticed, and what does it cost in time?"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

type Status = Literal["ok", "fail", "warn", "skip"]
type TransparencyVerdict = Literal["transparent", "not transparent", "inconclusive"]


class Interval(BaseModel):
    """The median of paired differences, and a bootstrap interval for it. In seconds."""

    model_config = ConfigDict(frozen=True)

    median: float
    low: float
    high: float
    pairs: int


class Pacing(BaseModel):
    """Times that were added to those of a direct connection, and those themselves. In seconds."""

    model_config = ConfigDict(frozen=True)

    first_byte: Interval
    chunk: Interval
    direct_first_byte: float = Field(description="median of the direct connection")
    direct_chunk: float = Field(description="median of the direct connection")


class CheckResult(BaseModel):
    """One check. `judged` is false where it was to be made and could not: no verdict without it."""

    model_config = ConfigDict(frozen=True)

    id: str
    proves: str
    status: Status
    details: list[str] = []
    judged: bool = True


class SelftestDocument(BaseModel):
    """The whole of `selftest --format json`."""

    model_config = ConfigDict(serialize_by_alias=True, frozen=True)

    schema_: Literal["proxyaudit.selftest/1"] = Field(
        default="proxyaudit.selftest/1", alias="schema"
    )
    verdict: TransparencyVerdict
    target: str = Field(description="what was tested: the URL of a proxy, or `recorder`")
    upstream: str | None = Field(description="a real upstream that was asked, too")
    checks: list[CheckResult]
    pacing: Pacing | None = None


def verdict_of(checks: list[CheckResult]) -> TransparencyVerdict:
    """One failed check settles it; one that could not be made leaves it open."""
    if any(check.status == "fail" for check in checks):
        return "not transparent"
    settled = [check for check in checks if check.status in ("ok", "warn")]
    if not settled or not all(check.judged for check in checks):
        return "inconclusive"
    return "transparent"
