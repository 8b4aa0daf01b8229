"""stream.delta_changed"""

from collections.abc import Iterator

from proxyaudit.compare.align import common_prefix
from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity, Skip
from proxyaudit.core.message import Message
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.content.double_escaped import is_double_escaped
from proxyaudit.rules.reading import text_place, visible
from proxyaudit.rules.stream.utf8_corrupt import MARK
from proxyaudit.rules.wording import actor, around, count

_SHOWN, _BEFORE = 40, 20


@rule("stream.delta_changed", severity="error", on=Comparison, relations=(Relation.RETURNED,))
def delta_changed(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """Joined text of the stream differs between the two sides.

    What it does
        Joins the pieces of a reply at the upstream tap and at the client tap, visible text and
        reasoning apart, and compares them; plain replies, too. How the text is cut into pieces does
        not count. White space at the ends is reported at info. Text that differs by replacement
        characters alone is stream.utf8_corrupt, by escapes alone content.double_escaped; reasoning
        that is gone is reasoning.dropped.

    Why it matters
        The harness keeps what it got as the model's words and sends it back from then on. A lost or
        doubled piece is a changed command, path or number.

    Example
        Bad: upstream "The weir is open today.", at the client "The weir is open is open today."
        Good: the same text, in however many pieces.

    What to look at next
        Retries in the middle of a stream, filters, and the first piece after reasoning.
    """
    if not found.left.ok or not found.right.ok:
        yield Skip("the reply failed or broke off")
        return
    for i, j in found.differing:
        left, right = found.left_messages[i], found.right_messages[j]
        if is_double_escaped(left, right):
            continue
        for what, old, new in _differences(left, right, found.left.dialect != found.right.dialect):
            yield Found(
                f"{actor(found)} {_told(what, old, new)}",
                places=(text_place(found.right, right),),
                before=(text_place(found.left, left),),
                severity=_severity(old, new),
                evidence=around(old, new),
            )


def _differences(left: Message, right: Message, translated: bool) -> Iterator[tuple[str, str, str]]:
    old, new = visible(left, ""), visible(right, "")
    # Blocks of text may be joined in another way in another dialect.
    same = old == new or (
        translated and old.split() and "".join(old.split()) == "".join(new.split())
    )
    folded = bool(left.reasoning.strip()) and left.reasoning.strip() in new and old in new
    if not same and not folded and not _torn(old, new):
        yield "text", old, new
    signed = any(thought.signature for thought in left.thoughts)
    before, after = left.reasoning, right.reasoning
    if before and after and before != after and not signed and not _torn(before, after):
        yield "reasoning", before, after


def _torn(old: str, new: str) -> bool:
    """Whether the texts are the same but for letters that became replacement characters."""
    if MARK not in new or MARK in old:
        return False
    rest = old
    for piece in (p for p in new.split(MARK) if p):
        _, found, rest = rest.partition(piece)
        if not found:
            return False
    return abs(len(old) - len(new)) <= 4 * new.count(MARK)


def _severity(old: str, new: str) -> Severity | None:
    return "info" if old.strip() == new.strip() else None


def _told(what: str, old: str, new: str) -> str:
    """What was done to a text, in words: how long it was and is, and where they part."""
    if not old:
        return (
            f"put {count(len(new), 'character')} of {what} of its own into the reply: {_cut(new)}"
        )
    if not new:
        return f"took all {count(len(old), 'character')} of {what} out of the reply: {_cut(old)}"
    # The word in which they part is shown whole, for what it was before the change.
    equal = common_prefix(old, new)
    begin = max(old.rfind(" ", 0, equal) + 1, equal - _BEFORE)
    return (
        f"changed the {what} of the reply from {count(len(old), 'character')} to {len(new):,}, "
        f"beginning with character {equal + 1:,}: {_cut(old, begin)} became {_cut(new, begin)}"
    )


def _cut(text: str, begin: int = 0) -> str:
    """A few words of a text from a place on, in quotes; what was left out is marked."""
    rest = text[begin : begin + _SHOWN + 1]
    shown = " ".join(rest[:_SHOWN].split())
    return f"“{'…' if begin else ''}{shown}{'…' if len(rest) > _SHOWN else ''}”"
