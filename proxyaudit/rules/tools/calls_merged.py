"""tool.calls_merged"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.tools.calls import merged_calls
from proxyaudit.rules.wording import actor, excerpt, where


@rule(
    "tool.calls_merged",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def calls_merged(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Several calls were folded into one.

    What it does
        Looks at messages that stand for each other and hold fewer calls on the right. Reports a
        call whose arguments hold those of several calls on the left, one after the other, or whose
        name is theirs joined.

    Why it matters
        No tool can run the joined call. The work of all but one is lost, and strict servers refuse
        the history from then on.

    Example
        Bad: calls read_file {"path": "a"} and read_file {"path": "c"} become one call with
        {"path": "a"}{"path": "c"}
        Good: two calls with an id each.

    What to look at next
        The indexes of the streamed pieces (tool.index_collision), and who put the pieces together.
    """
    for i, j in found.differing:
        merged = merged_calls(found.left_messages[i], found.right_messages[j])
        if merged is None:
            continue
        call, held = merged
        yield Found(
            f"{actor(found)} folded {len(held)} calls into one {where(found)}: {call.name}",
            places=(found.right_place(j, call.pointer),),
            before=tuple(found.left_place(i, c.pointer) for c in held),
            evidence={
                "before": excerpt("\n".join(c.arguments for c in held)),
                "after": excerpt(call.arguments),
                "ids": [c.id for c in held],
            },
        )
