"""message.merged"""

from collections.abc import Iterator

from proxyaudit.compare.joined import is_joined
from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, around, count


@rule(
    "message.merged",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def merged(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Two messages became one.

    What it does
        Reports a message that holds, in order, the texts of several messages of the same role which
        stood apart on the other side.

    Why it matters
        Adapters fold messages to please a template that wants strict turns. What stood between them
        is lost or moved, and the model no longer knows who said what when.

    Example
        Bad: user "Note three rakes.", assistant "Noted.", user "Add a can." is sent on as
        user "Note three rakes.\\nAdd a can."
        Good: three messages.

    What to look at next
        The adapter's options for "strict" or "alternating" roles.
    """
    if found.compacted or found.reset:
        return
    for change in found.changes:
        if change.kind != "merged":
            continue
        j = change.right.start
        if is_joined(found.right_messages[j]):
            continue
        pieces = [found.left_messages[i] for i in change.left if found.left_messages[i].text]
        held = [m for m in pieces if m.text.strip() in found.right_messages[j].text]
        yield Found(
            f"{actor(found)} folded {count(len(held), held[0].role + ' message')} into one",
            places=(found.right_place(j),),
            before=tuple(found.left_place(i) for i in change.left),
            evidence=around("\n".join(m.text for m in held), found.right_messages[j].text),
        )
