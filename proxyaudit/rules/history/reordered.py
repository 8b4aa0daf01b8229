"""message.reordered"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, count, excerpt, named


@rule(
    "message.reordered",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def reordered(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A message stands at another place in the order.

    What it does
        Reports messages of equal content whose order differs between the two histories. The results
        of parallel calls may come in any order; a system message moved is reported at info.

    Why it matters
        The newest instruction wins: put an old one last and the model goes back to old work. Token
        counts do not show it, for nothing is missing.

    Example
        Bad: [user A, assistant B, user C] is sent on as [user C, assistant B, user A].
        Good: the order in which it was said.

    What to look at next
        Proxies that sort by importance or move "relevant" context to the end.
    """
    if found.compacted or found.reset:
        return
    moved = [change for change in found.changes if change.kind == "moved"]
    if not moved:
        return
    messages = [found.right_messages[c.right.start] for c in moved]
    yield Found(
        f"{actor(found)} put {count(len(moved), 'message')} elsewhere: {named(messages[0])}",
        places=tuple(found.right_place(c.right.start) for c in moved),
        before=tuple(found.left_place(c.left.start) for c in moved),
        severity="info" if all(m.role == "system" for m in messages) else None,
        evidence={"text": excerpt(messages[0].text)},
    )
