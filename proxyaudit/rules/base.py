"""What a rule is: a pure generator over one subject, with a docstring that is its documentation."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import proxyaudit.rules
from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Confidence, Place, Severity, Skip, Suspect
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Assume
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn

type Subject = Exchange | Turn | Comparison | Conversation | Traffic


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule yields. The engine adds the rule's name, severity and suspect.

    `suspect` None: that of the comparison; for a turn the harness where the first place is in a
    request, else `upstream` (which the engine narrows to proxy or server if there are two taps).
    """

    message: str
    places: tuple[Place, ...]
    before: tuple[Place, ...] = ()
    suspect: Suspect | None = None
    severity: Severity | None = None
    confidence: Confidence = "certain"
    evidence: Mapping[str, JSON] = field(default_factory=dict)


type Outcome = Found | Skip


@dataclass(frozen=True, slots=True)
class Facts:
    """What a rule may know beside its subject."""

    assume: Assume = field(default_factory=Assume)


type Check = Callable[[Any, Facts], Iterator[Outcome]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named check. `relations` limits comparisons; empty for other subjects."""

    name: str
    severity: Severity
    on: type[Subject]
    check: Check
    relations: frozenset[Relation] = frozenset()

    @property
    def family(self) -> str:
        return self.check.__module__.split(".")[-2]

    @property
    def doc(self) -> str:
        """Its docstring; one without a docstring shares that of its namesake on another subject."""
        told = inspect.getdoc(self.check)
        namesakes = (r for r in _RULES.values() if r.name == self.name)
        return told or next((d for r in namesakes if (d := inspect.getdoc(r.check))), "")

    @property
    def meaning(self) -> str:
        return self.doc.partition("\n")[0]


# A name may stand for several checks, each on another subject.
_RULES: dict[tuple[str, type[Subject]], Rule] = {}


def rule(
    name: str, *, severity: Severity, on: type[Subject], relations: tuple[Relation, ...] = ()
) -> Callable[[Check], Check]:
    """Register a generator function as a rule."""

    def register(check: Check) -> Check:
        _RULES[name, on] = Rule(name, severity, on, check, frozenset(relations))
        return check

    return register


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule under `proxyaudit.rules`, by family and name."""
    for module in pkgutil.walk_packages(proxyaudit.rules.__path__, "proxyaudit.rules."):
        importlib.import_module(module.name)
    return tuple(sorted(_RULES.values(), key=lambda r: (r.family, r.name)))


def at(turn: Turn, where: str, pointer: str) -> Place:
    """A place in a turn's "request" or "response"."""
    side = turn.request_side if where == "request" else turn.response_side
    return Place(turn.id, side, pointer)
