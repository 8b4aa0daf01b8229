"""system.dropped"""

from collections.abc import Iterator
from itertools import takewhile

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.wording import actor, count, excerpt, named, where


@rule(
    "system.dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED),
)
def dropped(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """System or developer instructions are missing.

    What it does
        Reports system (or developer) messages on the left that have no counterpart on the right,
        or an empty one: from a turn to the next, and from the client tap to the upstream tap. Text
        that was joined to another message is not missing. Other instructions in their place, from
        one turn to the next, are told at info: harnesses change them with the mode or the model.

    Why it matters
        The model no longer knows its role, its rules and its surroundings. Translators between
        dialects often know one system message at the start and drop the others without a word.

    Example
        Bad: [system "Answer only in rhyme.", user …] is sent on as [user …]
        Good: [system "Answer only in rhyme.", user …] or {"system": "Answer only in rhyme.", …}

    What to look at next
        `proxyaudit diff RECORDING --turn N`; how the proxy maps `system`, `developer` and
        `instructions`.
    """
    lost = _lost(found)
    if not lost:
        return
    if found.right.prompt.hides_history:
        yield Skip("the history is kept by the server")
        return
    first = found.left_messages[lost[0]]
    instructions = "its instructions" if len(lost) == 1 else count(len(lost), "system message")
    swapped = _swapped(found, lost)
    yield Found(
        f"{actor(found)} put others in the place of {instructions} {where(found)}: {named(first)}"
        if swapped
        else f"{actor(found)} lost {instructions} {where(found)}: {named(first)}",
        places=(found.right_place(pointer=_field(found, lost[0])),),
        before=tuple(found.left_place(i) for i in lost),
        severity="info" if swapped else None,
        evidence={"text": excerpt(first.text), "lost": len(lost)},
    )


def _swapped(found: Comparison, lost: list[int]) -> bool:
    """Whether as many other instructions stand at the head of the next request."""
    if found.relation is not Relation.NEXT_TURN:
        return False
    known = {m.content for m in found.left_messages if m.role == "system"}
    head = takewhile(lambda m: m.role == "system", found.right_messages)
    new = [m for m in head if m.text.strip() and m.content not in known]
    return len(new) >= len(lost)


def _field(found: Comparison, i: int) -> str | None:
    """The field that held the instructions, where they do not stand among the messages."""
    left, pointer = found.left, found.left_messages[i].pointer
    among = pointer.startswith(left.prompt.messages_pointer)
    return None if among or left.dialect != found.right.dialect else pointer


def _lost(found: Comparison) -> list[int]:
    gone = [i for c in found.changes if c.kind == "dropped" for i in c.left]
    gone += [i for i, j in found.differing if not found.right_messages[j].text.strip()]
    return sorted(i for i in gone if _is_missing(found, i))


def _is_missing(found: Comparison, i: int) -> bool:
    message = found.left_messages[i]
    text = _flat(message.text)
    if message.role != "system" or not text:
        return False
    # A fork, a reset or a compaction may take notes from the middle with it, never the head.
    replaced = found.compacted or found.forked or found.reset
    if replaced and any(m.role != "system" for m in found.left_messages[:i]):
        return False
    return not any(text in _flat(m.text) for m in found.right_messages)


def _flat(text: str) -> str:
    return " ".join(text.split())
