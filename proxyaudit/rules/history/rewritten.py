"""message.rewritten"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity
from proxyaudit.core.message import Message, Opaque, Text
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.cache.drift import drift
from proxyaudit.rules.content.double_escaped import is_double_escaped
from proxyaudit.rules.content.lost_parts import lost_parts
from proxyaudit.rules.history.cleared import is_cleared
from proxyaudit.rules.history.habits import habit
from proxyaudit.rules.reasoning.echo import same_words
from proxyaudit.rules.wording import actor, around, named, where


@rule(
    "message.rewritten",
    severity="warn",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def rewritten(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Same place in the history, different text.

    What it does
        Compares the text of messages that stand for each other, in the history of the next turn and
        across the hop. Calls and reasoning have rules of their own, and so have parts that are gone
        (content.part_dropped) and escapes (content.double_escaped). A system prompt that drifts
        from turn to turn, white space cut off a reply's ends or put between joined text parts,
        reasoning folded into the text, or taken out of it, after a change of model, and the habits
        of a known harness (notes for one request, a description of the folder) are reported at
        info: they are lawful. So is a `<system-reminder>` that any client takes out of a message or
        puts into one, if the other text is as it was.

    Why it matters
        A rewritten message is a changed memory: the model is shown words that nobody said. It also
        breaks the prompt cache from that place on.

    Example
        Bad: turn 2 sends user "Add two cans, both green", turn 3 sends user "Add two cans".
        Good: the same text, as a string or as one text part.

    What to look at next
        `proxyaudit diff RECORDING --turn N` shows the words. On the hop, look for a proxy that
        compresses, translates or redacts.
    """
    if found.compacted or found.reset or found.forked:
        return
    for change in found.changes:
        if change.kind != "rewritten":
            continue
        i, j = change.left.start, change.right.start
        old, new = found.left_messages[i], found.right_messages[j]
        if not _differs(old, new) or is_cleared(old, new):
            continue
        lawful = habit(found, facts, old, new)
        told_elsewhere = lost_parts(old, new) or is_double_escaped(old, new)
        if told_elsewhere and not lawful and not _regrouped(found, old, new):
            continue
        yield Found(
            lawful or f"{actor(found)} changed the {named(old)} {where(found)}",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            severity="info" if lawful else _severity(found, i, old, new),
            evidence=around(old.text, new.text),
        )


def _differs(old: Message, new: Message) -> bool:
    return old.text != new.text or _opaque(old) != _opaque(new)


def _opaque(message: Message) -> list[Opaque]:
    return [p for p in message.parts if isinstance(p, Opaque)]


def _severity(found: Comparison, i: int, old: Message, new: Message) -> Severity | None:
    """None for the rule's own; info where harnesses do it lawfully."""
    if old.text == new.text or _parts_joined(old, new):
        return "info"
    if found.relation is not Relation.NEXT_TURN:
        return None
    if old.role == "system":
        return "info"
    if drift(old.text, new.text) == "volatile":
        return "info"  # A clock or a token that is new each time: cache.prefix_broken.
    trimmed = found.is_echo(i) and old.text.strip() == new.text.strip()
    return "info" if trimmed or _regrouped(found, old, new) else None


def _regrouped(found: Comparison, old: Message, new: Message) -> bool:
    return found.relation is Relation.NEXT_TURN and same_words(old, new)


def _parts_joined(old: Message, new: Message) -> bool:
    """Whether nothing but the white space differs with which text parts were joined."""
    texts = [sum(isinstance(p, Text) for p in message.parts) for message in (old, new)]
    return texts[0] != texts[1] and old.text.split() == new.text.split()
