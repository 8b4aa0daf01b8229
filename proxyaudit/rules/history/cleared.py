"""tool.result_cleared"""

import re
from collections.abc import Iterator

from proxyaudit.compare.align import common_prefix
from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import Message
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.history.habits import habit
from proxyaudit.rules.wording import actor, around, named, where

_PLACEHOLDER = re.compile(
    r"\b(clear|truncat|omit|remov|elid|prun|trimm|drop|delet|collaps|hidden|redact|shorten|compact)",
    re.IGNORECASE,
)


@rule(
    "tool.result_cleared",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def cleared(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A tool result was replaced by a placeholder or cut short.

    What it does
        Looks at tool results that stand for each other in two histories and reports one that is
        now empty, a placeholder, or a piece of what it was. Pruning that a known harness announces
        by its own placeholder is told at info.

    Why it matters
        The model believes that it read a file, and cannot see it any more. It guesses, or reads it
        again.

    Example
        Bad: tool result "3 rakes\\n1 spade\\n2 cans" becomes "[old result cleared]".
        Good: the same result in every later turn.

    What to look at next
        The harness's pruning settings (opencode: `compaction.prune`), or the proxy's compression,
        if the two taps differ.
    """
    if found.compacted or found.reset or found.forked:
        return
    for change in found.changes:
        if change.kind != "rewritten":
            continue
        i, j = change.left.start, change.right.start
        old, new = found.left_messages[i], found.right_messages[j]
        if is_cleared(old, new):
            lawful = habit(found, facts, old, new)
            yield Found(
                lawful
                or f"{actor(found)} replaced {len(old.text):,} characters of a {named(old)} by "
                f"{len(new.text):,} {where(found)}",
                severity="info" if lawful else None,
                places=(found.right_place(j),),
                before=(found.left_place(i),),
                evidence=around(old.text, new.text),
            )


def is_cleared(old: Message, new: Message) -> bool:
    """Whether `new` is a tool result of which only a piece or a placeholder is left."""
    if old.role != "tool" or new.role != "tool" or not old.text.strip():
        return False
    # Nothing, or dots and dashes that stand for something.
    if len(new.text) < len(old.text) and not any(letter.isalnum() for letter in new.text):
        return True
    marked = _is_marked(old.text, new.text)
    if len(new.text) >= len(old.text):
        # A placeholder may be longer than a short result, but then nothing of it is left.
        return marked and len(new.text) < 200 and old.text.strip() not in new.text
    kept = common_prefix(old.text, new.text)
    return marked or kept >= 0.8 * len(new.text) or old.text.endswith(new.text)


def _is_marked(old: str, new: str) -> bool:
    """Whether `new` says that something was taken away, in words that `old` did not have."""
    said = _PLACEHOLDER.search(new)
    if said is None or new.strip() in old:
        return False
    # A short text is nothing but its mark; in a long one the word may be the tool's own.
    return len(new) < 200 or not _PLACEHOLDER.search(old)
