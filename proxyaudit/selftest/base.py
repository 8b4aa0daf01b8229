"""What a check is, and where they are found: one file each under `proxyaudit.selftest.checks`."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import proxyaudit.selftest.checks
from proxyaudit.core.exchange import Exchange
from proxyaudit.selftest.script import Pair, Script, Seen


@dataclass(frozen=True, slots=True)
class Fail:
    """The proxy can be noticed, and what it does can break something."""

    message: str


@dataclass(frozen=True, slots=True)
class Warn:
    """The proxy can be noticed by those who look, and standards allow it."""

    message: str


type Outcome = Fail | Warn
type Judge = Callable[[Sequence[Pair]], Iterator[Outcome]]
type RecordedJudge = Callable[[Sequence[Recorded]], Iterator[Outcome]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rounds of a script as they were played through the recorder, and what it recorded."""

    script: Script
    seen: tuple[Seen, ...]
    exchanges: Mapping[str, Exchange]  # by the name of the round


@dataclass(frozen=True, slots=True)
class Check:
    """Scripts that are played, and a pure judge of what was seen.

    `repeat`: how often the scripts are played, direct and through the proxy in turns.
    """

    id: str
    proves: str
    judge: Judge
    scripts: Callable[[], tuple[Script, ...]]
    repeat: int = 1
    late: bool = False

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.judge) or ""


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """A judge of the recording that was made of all that was played."""

    id: str
    proves: str
    judge: RecordedJudge

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.judge) or ""


_CHECKS: dict[str, Check] = {}
_RECORDED: dict[str, RecordedCheck] = {}


def check(
    id_: str,
    *,
    proves: str,
    scripts: Callable[[], tuple[Script, ...]],
    repeat: int = 1,
    late: bool = False,
) -> Callable[[Judge], Judge]:
    """Register a judge of pairs. `late`: played behind the others."""

    def register(judge: Judge) -> Judge:
        _CHECKS[id_] = Check(id_, proves, judge, scripts, repeat, late)
        return judge

    return register


def recorded(id_: str, *, proves: str) -> Callable[[RecordedJudge], RecordedJudge]:
    """Register a judge of the recording."""

    def register(judge: RecordedJudge) -> RecordedJudge:
        _RECORDED[id_] = RecordedCheck(id_, proves, judge)
        return judge

    return register


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check of traffic, by id; late ones at the end."""
    _discover()
    return tuple(sorted(_CHECKS.values(), key=lambda c: (c.late, c.id)))


@cache
def recorded_checks() -> tuple[RecordedCheck, ...]:
    """Every check of the recording, by id."""
    _discover()
    return tuple(sorted(_RECORDED.values(), key=lambda c: c.id))


def _discover() -> None:
    path = proxyaudit.selftest.checks.__path__
    for module in pkgutil.iter_modules(path, "proxyaudit.selftest.checks."):
        importlib.import_module(module.name)
