"""Prove that the recorder, or any other proxy, can not be noticed; or show how it can."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from proxyaudit.capture.upstream import checked_upstream, joined_path
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.selftest import CheckResult, SelftestDocument, verdict_of
from proxyaudit.selftest.base import Check, RecordedCheck, all_checks, recorded_checks
from proxyaudit.selftest.live import Timing
from proxyaudit.selftest.real import Announce, Caller, real_checks
from proxyaudit.selftest.recorder import Recorder, recorder
from proxyaudit.selftest.run import Ran, judge_recording, reaches, run_checks
from proxyaudit.selftest.script import PATH
from proxyaudit.selftest.stage import Stage, stage
from proxyaudit.selftest.visit import Address
from proxyaudit.store.read import open_recording

type OnResult = Callable[[CheckResult], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to test.

    `through`: the URL of a proxy that forwards to `listen`; without one our own recorder is
    tested. `upstream`: a real server that is asked, too, with `key`. `only` names checks; empty
    for all. `listen` is the address of the scripted upstream, port 0 a free one.
    """

    through: str | None = None
    upstream: str | None = None
    listen: tuple[str, int] = ("127.0.0.1", 0)
    only: tuple[str, ...] = ()
    timing: Timing = field(default_factory=Timing)
    key: str | None = None


async def selftest(
    plan: Plan,
    scratch: Path,
    *,
    on_result: OnResult = lambda _: None,
    on_open: Callable[[str], None] = lambda _: None,
    announce: Announce = lambda _: None,
) -> SelftestDocument:
    """Play the checks; the recording that is made meanwhile goes to `scratch`.

    `on_open` gets the URL of the scripted upstream, `on_result` each result, and `announce` is
    told what will be sent to the real upstream before it is.

    Raises UserError for a proxy that does not lead to the scripted upstream, an unknown check, or
    an address that cannot be used.
    """
    checks, afterwards = chosen(plan.only)
    if plan.upstream is not None:
        checked_upstream(plan.upstream)  # a mistake is told before anything is played
    through = None if plan.through is None else _address(plan.through)
    results: list[CheckResult] = []

    def tell(result: CheckResult) -> None:
        results.append(result)
        on_result(result)

    async with stage(*plan.listen, plan.timing) as there:
        url = f"http://{there.direct.authority}"
        on_open(url)
        if through is not None:
            ran = await _other(through, there, checks, tell)
        else:
            ran = await _ours(there, url, scratch, checks, afterwards, tell)
    if plan.upstream is not None:
        await _real(plan.upstream, plan.key, scratch, announce, tell)
    return SelftestDocument(
        verdict=verdict_of(results),
        target=plan.through or "recorder",
        upstream=plan.upstream,
        checks=results,
        pacing=ran.pacing,
    )


def chosen(only: Sequence[str]) -> tuple[list[Check], list[RecordedCheck]]:
    """The checks with these ids, or all. Raises UserError for an id that does not exist.

    A recording is judged by what the others play: for its checks alone, all are played.
    """
    checks, afterwards = all_checks(), recorded_checks()
    known = [check.id for check in checks] + [check.id for check in afterwards]
    for name in only:
        if name not in known:
            raise UserError(f"there is no check {name!r}", f"the checks are {', '.join(known)}")
    return (
        [check for check in checks if check.id in only] or list(checks),
        [check for check in afterwards if not only or check.id in only],
    )


async def _other(through: Address, there: Stage, checks: Sequence[Check], tell: OnResult) -> Ran:
    if why := await reaches(there, through):
        raise UserError(
            f"a request to {through.authority} did not reach the scripted upstream: {why}",
            f"let that proxy forward to http://{there.direct.authority} (--listen), then try again",
        )
    return await run_checks(there, through, checks, tell)


async def _ours(
    there: Stage,
    url: str,
    scratch: Path,
    checks: Sequence[Check],
    afterwards: Sequence[RecordedCheck],
    tell: OnResult,
) -> Ran:
    async with recorder(url, scratch) as ours:
        ran = await run_checks(there, Address("127.0.0.1", ours.port), checks, tell)
        await ours.stop()
    if ran.played:
        exchanges = _by_round(ours)
        for result in judge_recording(afterwards, ran.played, exchanges):
            tell(result)
    return ran


def _by_round(ours: Recorder) -> dict[str, Exchange]:
    """Recorded exchanges by the name of the round that stands in their URL."""
    try:
        exchanges = open_recording(ours.folder).exchanges
    except UserError:  # nothing was recorded: the checks will say so
        return {}
    found = {}
    for exchange in exchanges:
        name = exchange.request.url.partition(PATH.decode())[2]
        found[name.partition("?")[0]] = exchange
    return found


async def _real(
    url: str, key: str | None, scratch: Path, announce: Announce, tell: OnResult
) -> None:
    there = checked_upstream(url)
    direct = Caller(
        there.host,
        there.port,
        there.authority,
        there.scheme == "https",
        key,
        partial(joined_path, there.path),
    )
    async with recorder(url, scratch, "real") as ours:
        tap = Caller("127.0.0.1", ours.port, f"127.0.0.1:{ours.port}", key=key)
        async for result in real_checks(direct, tap, announce):
            tell(result)


def _address(url: str) -> Address:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme != "http" or not parts.hostname:
        raise UserError(f"not a URL that can be tested: {url}", "give http://HOST:PORT")
    return Address(parts.hostname, port or 80, parts.path.rstrip("/"))
