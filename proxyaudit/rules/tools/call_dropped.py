"""tool.call_dropped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity
from proxyaudit.core.message import Message, ToolCall
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.reading import visible
from proxyaudit.rules.tools.calls import matched, merged_calls
from proxyaudit.rules.tools.offered import names, names_are_known
from proxyaudit.rules.wording import actor, count, excerpt, where

type Lost = tuple[int, int, ToolCall]


@rule(
    "tool.call_dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def call_dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A call is gone from a message, or from a reply, that arrived without it.

    What it does
        Looks at messages that stand for each other, and at the two sides of a whole reply, for
        calls that are missing on the right. Calls that were folded into one, that stand in another
        message or as text, or whose result lost its place with them, have rules of their own.
        Between turns a harness may drop a call that was never run: told at warn, and at info if
        the message has no call left. So is a call of the proxy's own tools.

    Why it matters
        The tool is never run, and the agent stops in the middle of its work; or the model sees a
        history in which it never asked.

    Example
        Bad: the reply holds calls k-1 and k-2 upstream, the client gets k-1 alone.
        Good: both calls on both sides, however their ids are written.

    What to look at next
        The raw stream at both taps (`proxyaudit show --raw`): pieces of calls behind the finish
        reason, or under an index that the translator does not expect.
    """
    lost = list(_lost(found))
    if not lost:
        return
    first = lost[0][2]
    yield Found(
        f"{actor(found)} dropped {count(len(lost), 'tool call')} {where(found)}: "
        f"{first.name or '(no name)'}",
        places=tuple(dict.fromkeys(found.right_place(j) for _, j, _ in lost)),
        before=tuple(found.left_place(i, call.pointer) for i, _, call in lost),
        severity=_severity(found, lost),
        evidence={"text": excerpt(first.arguments), "ids": [call.id for _, _, call in lost]},
    )


def _lost(found: Comparison) -> Iterator[Lost]:
    if found.compacted or found.reset or found.forked:
        return
    if found.relation is Relation.RETURNED and not (found.left.ok and found.right.ok):
        return
    for i, j in found.differing:
        left, right = found.left_messages[i], found.right_messages[j]
        gone = _gone(left, right)
        if gone and not _told_elsewhere(found, left, right, gone):
            yield from ((i, j, call) for call in gone)


def _gone(left: Message, right: Message) -> list[ToolCall]:
    missing = len(left.calls) - len(right.calls)
    if missing <= 0 or merged_calls(left, right) is not None:
        return []
    kept = [a for a, _ in matched(left, right)]
    free = [call for call in left.calls if not any(call is a for a in kept)]
    return free[-missing:]


def _told_elsewhere(found: Comparison, left: Message, right: Message, gone: list[ToolCall]) -> bool:
    """Whether the calls stand in another message or in the text, or their results tell of it."""
    ids = {call.id for call in gone}
    told = visible(right)
    if told != visible(left) and any(call.name and call.name in told for call in gone):
        return True
    if found.relation is Relation.RETURNED:
        return False
    if any(ids & set(m.ids) for m in found.right_messages):
        return True
    dropped = (i for c in found.changes if c.kind == "dropped" for i in c.left)
    return any(r.call_id in ids for i in dropped for r in found.left_messages[i].results)


def _severity(found: Comparison, lost: list[Lost]) -> Severity | None:
    if found.relation is Relation.NEXT_TURN:
        some = any(found.right_messages[j].calls for _, j, _ in lost)
        return "warn" if some else "info"
    asked = (found.right if found.relation is Relation.RETURNED else found.left).prompt
    strange = names_are_known(asked) and not any(c.name in names(asked) for _, _, c in lost)
    return "info" if strange else None
