"""cache.prefix_broken"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.cache.drift import drift
from proxyaudit.rules.cache.offered import tools_changed
from proxyaudit.rules.history.habits import habit
from proxyaudit.rules.wording import actor, around, count, named

# Claude Code's line for its provider, who takes it off before the prompt is read.
FOR_PROVIDER = "x-anthropic-billing-header"
_WORDS = {
    "volatile": "something new in every request stands in",
    "date": "the date changed in",
    "order": "the same words stand in another order in",
    "words": "the words changed of",
}


@rule("cache.prefix_broken", severity="warn", on=Comparison, relations=(Relation.NEXT_TURN,))
def prefix_broken(found: Comparison, facts: Facts) -> Iterator[Found]:
    """An early part of the request changed though the conversation only grew.

    What it does
        Looks at what stands before the new messages: the tools (their order, their definitions, the
        order of keys in them), the system prompt, the earlier messages. A token, a count or a clock
        that is new in every request, another order of tools or of a list, and instructions that
        are changed again and again are warned of. A date line, instructions that changed once, and
        tools that came or went are told at info; so is an earlier message with other words, which
        is message.rewritten. Nothing is said after a compaction, a rewind, or a change of model.

    Why it matters
        Servers keep what they computed for a prompt, up to the first token that differs. Everything
        behind it is computed, and paid for, again: in every turn, and more with each of them.

    Example
        Bad: system "nonce=36ee5 You are the clerk …", next turn "nonce=0aaa9 You are the clerk …"
        Good: the same bytes at the start of every request; a clock in the last message

    What to look at next
        `cached_tokens` of the two turns; `proxyaudit diff RECORDING --turn N`.
    """
    left, right = found.left.prompt, found.right.prompt
    if found.compacted or found.reset or found.forked or left.model != right.model:
        return
    change = tools_changed(found.left, found.right)
    if change is not None:
        yield Found(
            f"{actor(found)} changed the start of the request: {change.text}",
            places=(at(found.right, "request", "/tools"),),
            before=(at(found.left, "request", "/tools"),),
            severity=change.severity,
            evidence=change.evidence,
        )
    yield from _texts(found, facts)


def _texts(found: Comparison, facts: Facts) -> Iterator[Found]:
    for change in found.changes:
        i, j = change.left.start, change.right.start
        if change.kind != "rewritten" or found.is_echo(i):
            continue
        old, new = found.left_messages[i], found.right_messages[j]
        if old.text == new.text or habit(found, facts, old, new):
            continue
        kind = drift(old.text, new.text)
        lawful = kind in ("date", "words") or FOR_PROVIDER in new.text[:80]
        severity: Severity | None = "info" if lawful else None
        behind = len(found.left_messages) - 1 - i
        yield Found(
            f"{_WORDS[kind]} the {named(old)}, before {count(behind, 'earlier message')}",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            severity=severity,
            confidence="likely",
            evidence={"change": kind, **around(old.text, new.text)},
        )
