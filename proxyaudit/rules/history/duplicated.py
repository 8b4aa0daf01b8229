"""message.duplicated"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, excerpt, named

# A shorter text ("go on", "try again") may well be typed twice.
_TYPED_AGAIN = 16
_FAILED = 400


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
        while the left side has it once. A new user message at the end may well repeat an old one;
        it is reported where it follows its equal at once, is no mere word or two, and the request
        that held the first one failed, or both are new.

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
        twin = found.left_messages[i]
        same = message.content == twin.content or message.text.count(twin.text) > 1
        what = "twice" if same else "in part, beside the whole of it"
        yield Found(
            f"{actor(found)} sent the {named(message)} {what}",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            evidence={"text": excerpt(message.text)},
        )
    for j in _said_again(found):
        message = found.right_messages[j]
        yield Found(
            f"{actor(found)} sent the {named(message)} twice in a row",
            places=(found.right_place(j),),
            before=(found.right_place(j - 1),),
            evidence={"text": excerpt(message.text)},
        )


def _said_again(found: Comparison) -> Iterator[int]:
    """New user messages that follow their equal at once, where nobody is likely to have typed them
    twice: both are new, or the first one got an error for an answer."""
    if found.relation is not Relation.NEXT_TURN or found.forked or found.reset:
        return
    last = max((j for _, j in found.aligned), default=found.kept - 1)
    failed = (found.left.status or 0) >= _FAILED or found.left.exchange.end == "upstream_reset"
    for j in range(max(last + 1, 1), len(found.right_messages)):
        before, message = found.right_messages[j - 1 : j + 1]
        if message.role != "user" or len(message.text.strip()) < _TYPED_AGAIN:
            continue
        if before.content == message.content and (failed or j - 1 > last):
            yield j
