"""tool.id_changed"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place
from proxyaudit.core.message import UNNAMED, is_sent
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.tools.calls import call_pairs
from proxyaudit.rules.wording import actor, count, where

type Changed = tuple[Place, Place, str, str]


@rule(
    "tool.id_changed",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def id_changed(found: Comparison, facts: Facts) -> Iterator[Found]:
    """The id given by the model is not the id sent back.

    What it does
        Compares the ids of calls that stand for each other, and those of results: from the reply to
        the next request, and across the hop both ways. A gateway between two dialects may have to
        rename ids; if it does so everywhere alike, that is reported at info.

    Why it matters
        A result whose id no call bears is refused, or shown to the model as the answer to nothing.
        Some models read the id (`functions.read_file:0`) and lose count if it changes.

    Example
        Bad: the reply gives "call_ab12…ab12" (72 characters), the next request sends it cut to 64.
        Good: the id of the reply, unchanged, in the call and in its result.

    What to look at next
        Limits on the length or the alphabet of ids on either side.
    """
    calls = list(_calls(found))
    renamed = {old: new for _, _, old, new in calls}
    results = [c for c in _results(found) if renamed.get(c[2]) != c[3]]
    if not calls and not results:
        return
    first = (calls or results)[0]
    what = "tool call" if calls else "tool result"
    broken = bool(results) or (bool(calls) and _left_behind(found, renamed))
    lawful = found.left.dialect != found.right.dialect and not broken
    yield Found(
        f"{actor(found)} changed the id of {count(len(calls or results), what)} {where(found)}",
        places=tuple(place for place, *_ in (*calls, *results)),
        before=tuple(place for _, place, *_ in (*calls, *results)),
        severity="info" if lawful else None,
        evidence={"before": first[2], "after": first[3]},
    )


def _calls(found: Comparison) -> Iterator[Changed]:
    for i, j, a, b in call_pairs(found):
        if is_sent(a.id) and a.id != b.id and a.name == b.name and not b.id.startswith(UNNAMED):
            yield found.right_place(j, b.pointer), found.left_place(i, a.pointer), a.id, b.id


def _results(found: Comparison) -> Iterator[Changed]:
    for i, j in found.differing:
        left, right = found.left_messages[i].results, found.right_messages[j].results
        if len(left) != len(right) or {r.call_id for r in left} == {r.call_id for r in right}:
            continue
        for a, b in zip(left, right, strict=True):
            gone = b.call_id.startswith(UNNAMED)
            if is_sent(a.call_id) and a.call_id != b.call_id and not gone:
                here, there = found.right_place(j, b.pointer), found.left_place(i, a.pointer)
                yield here, there, a.call_id, b.call_id


def _left_behind(found: Comparison, renamed: dict[str, str]) -> bool:
    """Whether a result still bears an id that its call has lost."""
    return any(r.call_id in renamed for m in found.right_messages for r in m.results)
