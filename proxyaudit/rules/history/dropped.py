"""message.dropped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.json import JSON
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, count, excerpt, named, where


@rule(
    "message.dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A message that existed before is absent and nothing stands for it.

    What it does
        Aligns the history of a turn, with the reply it got, with the history of the next turn, and
        the request at the client tap with the same request at the upstream tap. Reports messages
        on the left that have no counterpart on the right. System messages have a rule of their own
        (system.dropped); a history that is gone altogether is history.reset; a rewind by the user
        and a marked compaction are lawful, unless a pending request was lost with it.

    Why it matters
        The model answers what it is sent. A lost message is a fact forgotten, a task undone, or a
        question asked again; a lost reply makes the model do its work twice.

    Example
        Bad: turn 2 sends [user A, assistant B, user C], turn 3 sends [user A, assistant B, user D].
        Good: turn 3 sends [user A, assistant B, user C, assistant C', user D].

    What to look at next
        `proxyaudit diff RECORDING --turn N` shows both histories side by side. Between two taps,
        look for the proxy's context limit, trimming or "optimiser" settings.
    """
    lost = _lost(found)
    if not lost:
        return
    n, whole = len(lost), len(found.left_messages)
    first = found.left_messages[lost[0]]
    if found.compacted:
        text = f"{actor(found)} compacted the history and lost the pending {named(first)}"
    elif found.relation is Relation.FORWARDED:
        text = f"{actor(found)} lost {n} of {count(whole, 'message')} {where(found)}"
    elif n == 1 and found.is_echo(lost[0]):
        text = f"{actor(found)} did not send the reply back: {named(first)}"
    else:
        text = f"{actor(found)} lost {n} of {count(whole, 'message')} {where(found)}"
    if n == 1 and "“" not in text:
        text += f": {named(first)}"
    messages: list[JSON] = [named(found.left_messages[i]) for i in lost]
    yield Found(
        text,
        places=(found.right_place(),),
        before=tuple(found.left_place(i) for i in lost),
        evidence={
            "lost": n,
            "of": whole,
            "messages": messages,
            "text": excerpt(first.text),
        },
    )


def _lost(found: Comparison) -> list[int]:
    if found.forked or found.reset:
        return []
    if found.compacted:
        return [] if found.pending is None else [found.pending]
    return [
        i
        for change in found.changes
        if change.kind == "dropped"
        for i in change.left
        if found.left_messages[i].role != "system" and not found.left_messages[i].is_empty
    ]
