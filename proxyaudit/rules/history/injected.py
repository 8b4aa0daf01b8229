"""message.injected"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, count, excerpt, named


@rule(
    "message.injected",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def injected(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A message stands in the history that nobody sent.

    What it does
        Reports messages on the right, before its end, that have no counterpart on the left. Between
        two turns a harness may insert notes of its own, so that is reported at info; across the hop
        nothing should come in.

    Why it matters
        A prompt that the gateway adds competes with the agent's own instructions, costs tokens in
        every turn and shifts the cache.

    Example
        Bad: [system A, user B] is sent on as [system "Be safe.", system A, user B].
        Good: the messages as sent.

    What to look at next
        The proxy's guardrail, "default prompt" and routing settings.
    """
    if found.compacted or found.reset or found.forked:
        return
    new = [j for c in found.changes if c.kind == "added" for j in c.right]
    new = [j for j in new if not found.right_messages[j].is_empty]
    if not new:
        return
    first = found.right_messages[new[0]]
    yield Found(
        f"{actor(found)} added {count(len(new), 'message')} of its own: {named(first)}",
        places=tuple(found.right_place(j) for j in new),
        severity="info" if found.relation is Relation.NEXT_TURN else None,
        evidence={"text": excerpt(first.text)},
    )
