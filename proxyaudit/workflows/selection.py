"""Which rules to run, and facts that the user states: what the options of `audit` mean."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from rapidfuzz import process

from proxyaudit.core.errors import UserError
from proxyaudit.core.recording import Assume
from proxyaudit.harnesses.base import all_harnesses
from proxyaudit.rules.base import Rule, all_rules

_FACTS = {
    "reasoning_echo": ("tool_turns", "always", "forbidden"),
    "client_credential_is_for": ("proxy", "upstream"),
    "harness": tuple(harness.name for harness in all_harnesses()),
}
_ALIASES = "model_aliases"


def rules_for(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """All rules, or those selected, without those ignored.

    Each word is a rule (`message.dropped`), a family (`history`), the first part of rule names
    (`message`) or a pattern (`*.dropped`). UserError for a word that means no rule.
    """
    rules = all_rules()
    wanted = _named(select, rules) if select else {r.name for r in rules}
    return tuple(r for r in rules if r.name in wanted - _named(ignore, rules))


def families() -> dict[str, str]:
    """The family of each rule, by name."""
    return {rule.name: rule.family for rule in all_rules()}


def closest(word: str, names: Iterable[str], limit: int = 3) -> list[str]:
    """The names most like a word, for a hint; may be empty."""
    found = process.extract(word, list(names), limit=limit, score_cutoff=55)
    return [name for name, *_ in found]


def check_facts(facts: Sequence[str]) -> None:
    """UserError for a fact that is not known, before any recording is read."""
    with_facts(Assume(), facts)


def with_facts(assume: Assume, facts: Sequence[str]) -> Assume:
    """`assume` with facts stated as NAME=VALUE; UserError for one that is not known.

    model_aliases=ALIAS=NAME,NAME says that an alias stands for these names; it may be repeated.
    """
    stated = assume.model_dump()
    for fact in facts:
        name, equals, value = fact.partition("=")
        if name == _ALIASES and equals:
            _add_alias(stated[_ALIASES], value)
        elif name in _FACTS and value in _FACTS[name]:
            stated[name] = value
        elif name in _FACTS:
            raise UserError(f"{fact!r} is no value of {name}", f"one of: {_choices(name)}")
        else:
            raise UserError(f"{fact!r} is no fact to assume", _usage())
    return Assume.model_validate(stated)


def _named(words: Sequence[str], rules: Sequence[Rule]) -> set[str]:
    # Commas as well as repeated options: both habits are common.
    return {
        name
        for word in ",".join(words).split(",")
        if word.strip()
        for name in _meant(word.strip(), rules)
    }


def _meant(word: str, rules: Sequence[Rule]) -> set[str]:
    stem = word.rstrip(".*").rstrip(".")
    found = {
        r.name
        for r in rules
        if r.name == word
        or r.family == stem
        or r.name.startswith(f"{stem}.")
        or ("*" in word and fnmatchcase(r.name, word))
    }
    if found:
        return found
    names = {r.name for r in rules} | {r.family for r in rules}
    near = closest(word, sorted(names))
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    raise UserError(f"no rule or family {word!r}", f"{meant}`proxyaudit rule` lists all")


def _add_alias(aliases: dict[str, list[str]], value: str) -> None:
    alias, equals, names = value.partition("=")
    if not (alias and equals and names):
        raise UserError(f"{value!r} is no alias", f"write {_ALIASES}=ALIAS=NAME,NAME")
    known = aliases.setdefault(alias, [])
    known += [n for n in names.split(",") if n and n not in known]


def _choices(name: str) -> str:
    return ", ".join(_FACTS[name])


def _usage() -> str:
    lines = [f"{name}={'|'.join(values)}" for name, values in _FACTS.items()]
    return "known: " + ", ".join([*lines, f"{_ALIASES}=ALIAS=NAME,NAME"])


def explained(word: str | None) -> list[Rule]:
    """The rules that a word means (None: all), one of each name; UserError if there is none."""
    rules = all_rules()
    wanted = _meant(word, rules) if word else {r.name for r in rules}
    return list({r.name: r for r in reversed(rules) if r.name in wanted}.values())[::-1]
