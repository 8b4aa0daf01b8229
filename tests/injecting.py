"""What it is to put a fault into a random clean conversation, and to look whether it was found.

Shared by the tests and by `benchmarks/recall.py`. A fault picks its own place: `pick` draws one of
some options, from hypothesis or from dice.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stories import Json, Step, exchange, recording

from proxyaudit.core.exchange import Exchange, Headers
from proxyaudit.core.recording import Assume, Recording
from proxyaudit.core.report import Report
from proxyaudit.engine import audit

type Outcome = Literal["at the place", "elsewhere", "missed", "another suspect"]

LABEL: Headers = (("x-session-id", "s-1"),)


class Pick:
    """Draws one of some options."""

    def __init__(self, choose: Callable[[Sequence[int]], int]) -> None:
        self._choose = choose

    def of[T](self, options: Sequence[T]) -> T:
        return options[self._choose(range(len(options)))]


@dataclass(frozen=True)
class Injected:
    """The exchanges with the fault in them, and the id of the exchange where it is."""

    exchanges: Sequence[Exchange]
    where: str
    assume: Assume = field(default_factory=Assume)

    def recording(self) -> Recording:
        made = recording(self.exchanges)
        return Recording(made.target, made.exchanges, self.assume)


@dataclass(frozen=True)
class Fault:
    """A kind of fault, who may be named for it, and how it is put in (None: it does not fit).

    `info`: what the kind tells is lawful, and told at info.
    """

    kind: str
    suspects: tuple[str, ...]
    inject: Callable[[list[Step], Pick], Injected | None]
    info: bool = False


def judge(fault: Fault, injected: Injected) -> tuple[Outcome, Report]:
    """How the audit tells the fault."""
    report = audit(injected.recording()).report
    outcome: Outcome = "missed"
    for finding in report.findings:
        if finding.rule != fault.kind or (finding.severity == "info") != fault.info:
            continue
        here = injected.where in {p.exchange for p in (*finding.places, *finding.before)}
        if here and finding.suspect in fault.suspects:
            return "at the place", report
        outcome = "another suspect" if here else "elsewhere"
    return outcome, report


def through(
    steps: Sequence[Step], number: int, upstream: Exchange | None, client: Exchange | None = None
) -> list[Exchange]:
    """The story at both taps; the exchanges of one step may be other ones."""
    made = []
    for n, step in enumerate(steps):
        here = n == number
        made.append((client if here else None) or exchange(step.body, step.reply, n))
        made.append(
            (upstream if here else None) or exchange(step.body, step.reply, n, tap="upstream")
        )
    return made


def answered(steps: Sequence[Step], number: int, reply: Json, *, on: bool = True) -> list[Step]:
    """The story with another reply at a step, kept in the histories after it; `on`: it goes on."""
    made = copy.deepcopy(list(steps if on else steps[: number + 1]))
    made[number].reply = reply
    for step in made[number + 1 :]:
        step.body["messages"][len(steps[number].body["messages"])] = copy.deepcopy(reply)
    return made


def ends(steps: Sequence[Step]) -> list[int]:
    """Steps that end in a text, not in calls."""
    return [n for n, step in enumerate(steps) if not step.reply.get("tool_calls")]


def calling(steps: Sequence[Step], least: int = 1) -> list[int]:
    """Steps whose reply holds so many calls."""
    return [n for n, step in enumerate(steps) if len(step.reply.get("tool_calls", ())) >= least]
