"""history.forked"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import named


@rule("history.forked", severity="info", on=Comparison, relations=(Relation.NEXT_TURN,))
def forked(found: Comparison, facts: Facts) -> Iterator[Found]:
    """The tail was cut at a user message and the conversation goes on another way.

    What it does
        Recognises a history that is a whole earlier history with a new user message behind it: an
        undo, an edit of an earlier message, or a branch.

    Why it matters
        It is what the user asked for, as a rule. If nobody went back, the harness lost the end of
        the conversation, and on the wire the two look the same.

    Example
        Bad: nobody pressed undo, and the last two turns are gone.
        Good: the user edits the second message, and the turns after it are cut.

    What to look at next
        Did the user go back at this point?
    """
    if not found.forked or not found.right_messages:
        return
    last = len(found.right_messages) - 1
    yield Found(
        f"the conversation went back and on from an earlier point: "
        f"{named(found.right_messages[last])}",
        places=(found.right_place(last),),
    )
