"""stream.utf8_corrupt"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Place, Skip
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.reading import asked, event_place, text_place
from proxyaudit.rules.wording import actor, around

MARK = "\ufffd"
_TORN_WORD = re.compile(rf"[^\W\d_]{MARK}|{MARK}[^\W\d_]")


@rule("stream.utf8_corrupt", severity="error", on=Turn)
def in_reply(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Replacement characters where text was split.

    What it does
        Looks for bytes in a stream that are no UTF-8, and for replacement characters (U+FFFD) in
        the text, reasoning or arguments of a reply. Letters cut between chunks that join well are
        lawful. If the request holds such characters itself, the reply may quote them. A single one
        that touches no letter is reported at info: models now and then write it. Across the hop it
        says who made them.

    Why it matters
        A layer decoded chunk by chunk, and tore every letter that stood on an edge. Names, paths
        and code in other languages are changed for good.

    Example
        Bad: "Z\\ufffd\\ufffdrich"
        Good: "Zürich"

    What to look at next
        Which hop decodes bytes to text per chunk instead of with an incremental decoder.
    """
    reply = turn.reply
    if reply is None or reply.message is None:
        return
    torn = _torn_bytes(turn)
    marks = _marks(reply.message)
    if not torn and not marks:
        return
    if not torn and any(MARK in text for text in asked(turn.prompt)):
        yield Skip("the request holds replacement characters itself")
        return
    yield Found(
        "the reply holds bytes that are no UTF-8"
        if torn
        else f"the reply holds {marks} replacement characters where letters were torn",
        places=(event_place(turn, torn[0]) if torn else _first_place(turn, reply.message),),
        severity=None if torn or marks > 1 or _in_a_word(reply.message) else "info",
        confidence="certain" if torn else "likely",
        evidence={"text": _excerpt(reply.message), "marks": marks},
    )


@rule("stream.utf8_corrupt", severity="error", on=Comparison, relations=(Relation.RETURNED,))
def on_the_way(found: Comparison, facts: Facts) -> Iterator[Found]:
    for i, j in found.differing:
        left, right = found.left_messages[i], found.right_messages[j]
        new = _marks(right) - _marks(left)
        if new <= 0 or (_torn_bytes(found.left) and not _torn_bytes(found.right)):
            continue
        yield Found(
            f"{actor(found)} made {new} replacement characters out of letters",
            places=(_first_place(found.right, right),),
            before=(text_place(found.left, left),),
            evidence=around(left.text, right.text),
        )


def _marks(message: Message) -> int:
    return sum(text.count(MARK) for text in _texts(message))


def _in_a_word(message: Message) -> bool:
    """Whether a mark stands where a letter of a word was."""
    return any(_TORN_WORD.search(text) for text in _texts(message))


def _texts(message: Message) -> tuple[str, ...]:
    return (message.text, message.reasoning, *(c.arguments for c in message.calls))


def _torn_bytes(turn: Turn) -> list[int]:
    """Events with bytes that are no UTF-8; a letter torn by the end of a broken stream is none."""
    stream = turn.reply.stream if turn.reply else None
    faults = stream.faults if stream else ()
    torn = {f.event for f in faults if f.kind == "torn"}
    return [f.event for f in faults if f.kind == "bad_utf8" and f.event not in torn]


def _first_place(turn: Turn, message: Message) -> Place:
    faults = turn.reply.stream.faults if turn.reply and turn.reply.stream else ()
    event = next((f.event for f in faults if f.kind in ("replacement", "bad_utf8")), None)
    return text_place(turn, message) if event is None else event_place(turn, event)


def _excerpt(message: Message) -> str:
    text = next((t for t in _texts(message) if MARK in t), "")
    return text[max(0, text.find(MARK) - 40) : text.find(MARK) + 40]
