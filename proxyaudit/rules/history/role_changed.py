"""message.role_changed"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, excerpt


@rule(
    "message.role_changed",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def role_changed(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Same text under another role.

    What it does
        Reports a message whose content is the same and whose role is another. `developer` and
        `system` are one role.

    Why it matters
        Instructions sent as a user message lose their weight; a reply sent as a user message makes
        the model argue with itself.

    Example
        Bad: developer "Answer in French." is sent on as user "Answer in French."
        Good: developer "Answer in French." is sent on as system "Answer in French."

    What to look at next
        Whether the chat template of the served model knows the role.
    """
    if found.compacted:
        return
    for change in found.changes:
        if change.kind != "role_changed":
            continue
        i, j = change.left.start, change.right.start
        old, new = found.left_messages[i], found.right_messages[j]
        yield Found(
            f"{actor(found)} turned a {old.raw_role or old.role} message into a "
            f"{new.raw_role or new.role} message",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            evidence={"text": excerpt(new.text)},
        )
