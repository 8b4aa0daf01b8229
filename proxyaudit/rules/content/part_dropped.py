"""content.part_dropped"""

from collections import Counter
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity
from proxyaudit.core.message import Media, Part
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.content.lost_parts import is_placeholder, is_tagged, lost_parts, media_of
from proxyaudit.rules.history.habits import habit
from proxyaudit.rules.reasoning.echo import same_words
from proxyaudit.rules.wording import actor, around, count, named, where


@rule(
    "content.part_dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def part_dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A content part (image, text part) is missing or became a placeholder.

    What it does
        Compares the parts of messages that stand for each other, from turn to turn and across the
        hop: pictures, sounds and files by their number (a link may become data), texts by whether
        they are found on the right. Parts that were joined, or moved to another message, are not
        missing. The habits of a known harness are told at info (message.rewritten).

    Why it matters
        The model answers "I see no picture", or works on a file it was never shown.

    Example
        Bad: [text "What bird is this?", image] is sent on as "What bird is this?"
        Good: both parts, in whatever shape

    What to look at next
        Whether the model, as the proxy knows it, takes pictures; how a translator maps the parts of
        messages and of tool results.
    """
    if found.compacted or found.reset or found.forked:
        return
    moved = _everywhere(found)
    for i, j in found.differing:
        old, new = found.left_messages[i], found.right_messages[j]
        if old.content == new.content:
            continue
        lost = [p for p in lost_parts(old, new) if not (isinstance(p, Media) and moved[p.kind])]
        regrouped = found.relation is Relation.NEXT_TURN and same_words(old, new)
        if not lost or regrouped or habit(found, facts, old, new):
            continue
        became = ", and a placeholder stands for it" if is_placeholder(old, new) else ""
        yield Found(
            f"{actor(found)} dropped {_what(lost)} of the {named(old)} {where(found)}{became}",
            places=(found.right_place(j),),
            before=tuple(found.left_place(i, part.pointer) for part in lost),
            severity=_severity(found, i, lost),
            evidence={"parts": len(lost), **around(old.text, new.text)},
        )


def _everywhere(found: Comparison) -> dict[str, bool]:
    """For each kind of media, whether the right has as many of them as the left."""
    left = Counter(m.kind for m in media_of(found.left_messages[found.kept :]))
    right = Counter(m.kind for m in media_of(found.right_messages[found.kept :]))
    return {kind: right[kind] >= number for kind, number in left.items()}


def _what(lost: list[Part]) -> str:
    kinds = Counter(p.kind if isinstance(p, Media) else "text part" for p in lost)
    return " and ".join(count(number, kind) for kind, number in kinds.items())


def _severity(found: Comparison, i: int, lost: list[Part]) -> Severity | None:
    """None for the rule's own. Instructions drift, and notes in tags come and go."""
    if found.relation is not Relation.NEXT_TURN:
        return None
    if found.left_messages[i].role == "system":
        return "info"
    return "warn" if all(is_tagged(part) for part in lost) else None
