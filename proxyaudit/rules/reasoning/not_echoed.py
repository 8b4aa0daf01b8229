"""reasoning.not_echoed"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.reasoning.echo import is_folded, thinks
from proxyaudit.rules.wording import actor, count, excerpt

_NAMES_IT = re.compile(r"reasoning|thinking|thought", re.IGNORECASE)


@rule("reasoning.not_echoed", severity="error", on=Comparison, relations=(Relation.NEXT_TURN,))
def not_echoed(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """Reasoning the model family needs back is missing or empty in the next request.

    What it does
        Compares the reasoning of a reply, and of the history before it, with the next request. What
        a family needs is a fact that you may state (`reasoning_echo` = "tool_turns", "always" or
        "forbidden"). Without it, missing reasoning is an error if the backend refuses the request
        and says so, and is reported at info otherwise: many clients leave it out lawfully.

    Why it matters
        DeepSeek and others answer 400. Families that only benefit from it lose their plan between
        two tool calls.

    Example
        Bad: the reply holds "reasoning_content": "Look it up." and a call, the next request has the
        call without it.
        Good: the message as it was given.

    What to look at next
        The harness's settings for the model (opencode: `interleaved`), and its provider package.
    """
    if facts.assume.reasoning_echo == "forbidden":
        return
    if found.right.prompt.hides_history:
        yield Skip("the history is kept by the server")
        return
    lost = [(i, j) for i, j in found.differing if _is_lost(found, i, j)]
    if facts.assume.reasoning_echo == "tool_turns":
        lost = [(i, j) for i, j in lost if found.left_messages[i].calls]
    if not lost:
        return
    known = facts.assume.reasoning_echo is not None or _refused(found.right)
    same_model = found.left.prompt.model == found.right.prompt.model
    first = found.left_messages[lost[0][0]]
    yield Found(
        f"{actor(found)} did not send the reasoning of {count(len(lost), 'message')} back",
        places=tuple(found.right_place(j) for _, j in lost),
        before=tuple(found.left_place(i, _pointer(found.left_messages[i])) for i, _ in lost),
        severity=None if known and same_model else "info",
        evidence={"text": excerpt(first.reasoning), "messages": len(lost)},
    )


def _is_lost(found: Comparison, i: int, j: int) -> bool:
    left, right = found.left_messages[i], found.right_messages[j]
    return thinks(left) and not thinks(right) and not is_folded(left, right)


def _pointer(message: Message) -> str:
    return message.thoughts[0].pointer


def _refused(turn: Turn) -> bool:
    """Whether the backend refused the request and named the reasoning."""
    refused = turn.status is not None and turn.status in range(400, 500)
    error = turn.reply.error if turn.reply else None
    return refused and bool(error and _NAMES_IT.search(error))
