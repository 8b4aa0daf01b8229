"""content.double_escaped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import Message, Reasoning, Text, ToolResult
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.content.escapes import escaped_again
from proxyaudit.rules.wording import actor, around, named, where


@rule(
    "content.double_escaped",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def double_escaped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Text came through with escapes applied once more.

    What it does
        Compares the texts of messages that stand for each other, tool results and reasoning among
        them: from turn to turn and across the hop. Reports a text that is the other one with JSON
        escapes (\\n, \\", \\u00e4) or HTML escapes (&amp;quot;) applied once more, all of
        them or some. The arguments of calls have rules of their own.

    Why it matters
        The model reads backslashes where lines ended, and writes them back. Each turn may add one
        more layer.

    Example
        Bad: a line end and "Æbelø" arrive as \\n and \\"\\u00c6bel\\u00f8\\"
        Good: the same text; how its JSON spells it does not matter

    What to look at next
        A hop that puts a body together as text, or encodes a value that was encoded already.
    """
    for i, j in found.differing:
        old, new = found.left_messages[i], found.right_messages[j]
        if old.content == new.content and old.reasoning == new.reasoning:
            continue
        hit = _escaped(old, new)
        if hit is not None:
            how, before, after, pointers = hit
            yield Found(
                f"{actor(found)} applied {how} escapes once more to the {named(old)} "
                f"{where(found)}",
                places=(found.right_place(j, pointers[1]),),
                before=(found.left_place(i, pointers[0]),),
                evidence=around(before, after),
            )


def is_double_escaped(old: Message, new: Message) -> bool:
    """Whether a text of a message came through with its escapes applied once more."""
    return _escaped(old, new) is not None


def _escaped(old: Message, new: Message) -> tuple[str, str, str, tuple[str, str]] | None:
    """How, both texts and their pointers. Texts are compared whole, for parts may be joined."""
    for kind in (Text, ToolResult, Reasoning):
        left = [p for p in old.parts if isinstance(p, kind)]
        right = [p for p in new.parts if isinstance(p, kind)]
        if not left or not right:
            continue
        pairs = [(a, b) for a, b in zip(left, right, strict=False) if a.text != b.text]
        for a, b in pairs[:1] if len(left) == len(right) else []:
            if how := escaped_again(a.text, b.text):
                return how, a.text, b.text, (a.pointer, b.pointer)
        before, after = ("".join(p.text for p in side) for side in (left, right))
        if how := escaped_again(before, after):
            return how, before, after, (left[0].pointer, right[0].pointer)
    return None
