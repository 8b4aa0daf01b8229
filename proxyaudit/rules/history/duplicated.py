"""message.duplicated"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, excerpt, named


@rule(
    "message.duplicated",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def duplicated(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A message (or a prefix of it) appears twice.

    What it does
        Reports a message on the right that stands once more, or in part, beside the one it repeats,
        while the left side has it once. A new user message at the end may well repeat an old one.

    Why it matters
        After a broken stream and a retry some harnesses keep both the half reply and the whole one.
        Models take a repeated turn as a request to do the work again, or start to loop.

    Example
        Bad: [user A, assistant "The shed holds three", assistant "The shed holds three rakes."]
        Good: [user A, assistant "The shed holds three rakes."]

    What to look at next
        What happened to the exchange before: a cut stream, a time-out, a retry.
    """
    for change in found.changes:
        if change.kind != "duplicated":
            continue
        i, j = change.left.start, change.right.start
        message = found.right_messages[j]
        same = message.content == found.left_messages[i].content
        what = "twice" if same else "in part, beside the whole of it"
        yield Found(
            f"{actor(found)} sent the {named(message)} {what}",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            evidence={"text": excerpt(message.text)},
        )
