"""Plays the checks and puts their outcomes together."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.selftest import CheckResult, Pacing, Status
from proxyaudit.selftest.base import Check, Fail, Outcome, Recorded, RecordedCheck
from proxyaudit.selftest.checks import stream_pacing
from proxyaudit.selftest.compare import unsound
from proxyaudit.selftest.script import OK, Pair, Script, get
from proxyaudit.selftest.stage import Stage
from proxyaudit.selftest.visit import Address

_MOST_DETAILS = 6


@dataclass(slots=True)
class Ran:
    """What came of the checks of traffic, and what was played for a recording to be compared to."""

    results: list[CheckResult] = field(default_factory=list)
    played: list[Pair] = field(default_factory=list)
    pacing: Pacing | None = None


async def reaches(stage: Stage, through: Address) -> str:
    """Why a proxy does not lead to the scripted upstream, or an empty text: it does."""
    (seen,) = await stage.play(Script((get((OK,)),)), through)
    if seen.request is not None:
        return ""
    if seen.failed:
        return seen.failed
    if seen.response is not None:
        return f"it answered {seen.response.status} by itself"
    return "it did not answer"


async def run_checks(
    stage: Stage,
    through: Address,
    checks: Sequence[Check],
    on_result: Callable[[CheckResult], None] = lambda _: None,
) -> Ran:
    """Play every check direct and through the proxy, and judge it. Never raises for bad traffic."""
    ran = Ran()
    for check in checks:
        pairs = [pair async for pair in _pairs(stage, through, check)]
        # Without the direct runs: large bodies are not held twice.
        ran.played += [replace(pair, direct=()) for pair in pairs]
        if check.id == stream_pacing.ID:
            ran.pacing = stream_pacing.pacing(pairs)
        result = judged(check, pairs)
        ran.results.append(result)
        on_result(result)
    return ran


async def _pairs(stage: Stage, through: Address, check: Check) -> AsyncIterator[Pair]:
    scripts = check.scripts()
    for number in range(check.repeat):
        for script in scripts:
            yield await stage.play_pair(script, through, swapped=number % 2 == 1)


def judged(check: Check, pairs: Sequence[Pair]) -> CheckResult:
    """The result of a check; skipped where the direct runs themselves did not go as they should."""
    reasons = [reason for pair in pairs if (reason := unsound(pair))]
    if reasons:
        return CheckResult(
            id=check.id, proves=check.proves, status="skip", details=reasons[:1], judged=False
        )
    return result_of(check.id, check.proves, check.judge(pairs))


def judge_recording(
    checks: Iterable[RecordedCheck], played: Sequence[Pair], exchanges: Mapping[str, Exchange]
) -> Iterator[CheckResult]:
    """Compare a recording with what was played through the recorder; exchanges by round."""
    plays = [Recorded(pair.script, pair.through, exchanges) for pair in played]
    for check in checks:
        yield result_of(check.id, check.proves, check.judge(plays))


def result_of(id_: str, proves: str, outcomes: Iterable[Outcome]) -> CheckResult:
    """A failure makes it fail, else a warning warn; each thing is told once."""
    found = list(outcomes)
    status: Status = "ok"
    if found:
        status = "fail" if any(isinstance(one, Fail) for one in found) else "warn"
    # The same thing may go wrong in many rounds: it is told once, failures first.
    found.sort(key=lambda one: not isinstance(one, Fail))
    details = list(dict.fromkeys(one.message for one in found))
    if len(details) > _MOST_DETAILS:
        more = len(details) - _MOST_DETAILS
        details = [*details[:_MOST_DETAILS], f"and {more} more differences"]
    return CheckResult(id=id_, proves=proves, status=status, details=details)
