"""history.reset"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, count, excerpt


@rule("history.reset", severity="error", on=Comparison, relations=(Relation.NEXT_TURN,))
def reset(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A continuing conversation is sent with none of its earlier turns.

    What it does
        Looks for a turn that belongs to a known conversation (by the harness's own label, or by
        what it holds) and whose history has nothing of the earlier turns: no user message, no
        reply, no marked summary in their place.

    Why it matters
        This is "this is the very first message": the model has never seen the conversation that
        the user is in the middle of. Status codes stay green.

    Example
        Bad: three turns about a shed list, then [system, user "Write the whole list to a file"].
        Good: the same with the three turns before it, or with a summary marked as one.

    What to look at next
        `proxyaudit diff RECORDING --turn N`. If the client tap shows it, the harness did it: look
        at its session store, its context limit, and at what happened just before (an error, a
        restart, a compaction).
    """
    if not found.reset:
        return
    told = [m for m in found.left_messages if m.role != "system"]
    yield Found(
        f"{actor(found)} sent the conversation on with none of its {count(len(told), 'message')}",
        places=(found.right_place(),),
        before=(found.left_place(len(found.left_messages) - len(told)),),
        # A user who clears the conversation under the same label sends the same bytes.
        confidence="likely",
        evidence={
            "lost": len(told),
            "of": len(told),
            "text": excerpt("\n".join(f"{m.role}: {m.text}" for m in found.right_messages)),
        },
    )
