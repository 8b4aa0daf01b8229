"""reasoning.altered"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Severity
from proxyaudit.core.message import Message, Reasoning
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import actor, around, where

type Altered = tuple[Reasoning, Reasoning]

# Dialects with reasoning that only its signature stands for.
_SEALED = frozenset({"openai-responses", "gemini"})


@rule(
    "reasoning.altered",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def altered(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Signed or required reasoning text came back changed.

    What it does
        Compares reasoning that is there on both sides. Signed reasoning has to be the same to the
        letter, signature included, unless it is translated into another dialect. Unsigned reasoning
        is compared without regard to white space: across the hop a request must keep it; from a
        reply to the next request a change is an error where the model family requires it back
        (`reasoning_echo`), and reported at info elsewhere. Unsigned reasoning of a reply on its way
        to the client belongs to stream.delta_changed.

    Why it matters
        A signature that does not fit its text is refused with 400, and the conversation is stuck.
        Changed unsigned reasoning gives the model thoughts that it did not have.

    Example
        Bad: {"thinking": "  I look it up.\\n", "signature": "c2ln"} comes back as
        {"thinking": "I look it up.", "signature": "c2ln"}
        Good: the block as it was given.

    What to look at next
        Whatever trims, re-encodes or re-joins text blocks on the way.
    """
    for i, j in found.differing:
        left, right = found.left_messages[i], found.right_messages[j]
        for old, new in _altered(found, left, right):
            lost = old.signature is not None and new.signature is None
            what = "the signature of" if lost else "the text of signed" if old.signature else ""
            yield Found(
                f"{actor(found)} changed {what} reasoning {where(found)}".replace("  ", " "),
                places=(found.right_place(j, new.pointer),),
                before=(found.left_place(i, old.pointer),),
                severity=_severity(found, facts, old),
                evidence=around(old.text, new.text)
                if old.text != new.text
                else {"before": old.signature, "after": new.signature},
            )


def _altered(found: Comparison, left: Message, right: Message) -> Iterator[Altered]:
    # Another dialect has no place for a signature: the text alone can be kept.
    translated = found.left.dialect != found.right.dialect
    for old, new in _twins(left, right):
        if old.signature and not translated:
            # A summary beside sealed reasoning is for people, and may be left out.
            bare = found.right.dialect in _SEALED and not new.text
            if old.signature != new.signature or (old.text != new.text and not bare):
                yield old, new
        elif found.relation is not Relation.RETURNED and _rewritten(old.text, new.text):
            yield old, new


def _twins(left: Message, right: Message) -> Iterator[Altered]:
    """Thoughts that stand for each other: by signature, the others in order if as many are left."""
    if left.thoughts == right.thoughts:
        return
    signed = {t.signature: t for t in right.thoughts if t.signature}
    yield from ((t, signed[t.signature]) for t in left.thoughts if t.signature in signed)
    taken = {t.signature for t in left.thoughts} & set(signed)
    olds = [t for t in left.thoughts if t.signature not in taken]
    news = [t for t in right.thoughts if t.signature not in taken]
    if len(olds) == len(news):
        yield from zip(olds, news, strict=True)


def _rewritten(old: str, new: str) -> bool:
    return old != new and bool(old.strip() and new.strip()) and old.split() != new.split()


def _severity(found: Comparison, facts: Facts, old: Reasoning) -> Severity | None:
    required = facts.assume.reasoning_echo in ("tool_turns", "always")
    lawful = found.relation is Relation.NEXT_TURN and not old.signature and not required
    return "info" if lawful else None
