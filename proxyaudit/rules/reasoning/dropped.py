"""reasoning.dropped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Prompt
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.reasoning.echo import is_folded, thinks
from proxyaudit.rules.wording import actor, count, excerpt


@rule(
    "reasoning.dropped",
    severity="error",
    on=Comparison,
    relations=(Relation.FORWARDED, Relation.RETURNED),
)
def dropped(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """Reasoning present on one side of the proxy is absent on the other.

    What it does
        Compares messages that stand for each other across the hop, in the request and in the reply.
        Lawful are: a model family that forbids reasoning in the history (`reasoning_echo`), or
        wants it beside tool calls alone, and a client that asked for none.

    Why it matters
        Some model families refuse a history without the reasoning of earlier tool calls; the others
        lose their plan between two calls and begin anew.

    Example
        Bad: {"role": "assistant", "reasoning_content": "Look it up.", "tool_calls": […]} goes on as
        {"role": "assistant", "tool_calls": […]}
        Good: the same message on both sides; the field may have another name.

    What to look at next
        Whether the proxy knows the field: unknown fields of messages are often dropped on purpose.
    """
    if found.relation is Relation.FORWARDED and facts.assume.reasoning_echo == "forbidden":
        return
    if found.relation is Relation.RETURNED and _unwanted(found.right.prompt):
        return
    lost = [(i, j) for i, j in found.differing if _is_lost(found, i, j, facts)]
    if not lost:
        return
    first = found.left_messages[lost[0][0]]
    yield Found(
        f"{actor(found)} dropped the reasoning of {count(len(lost), 'assistant message')}",
        places=tuple(found.right_place(j) for _, j in lost),
        before=tuple(
            found.left_place(i, found.left_messages[i].thoughts[0].pointer) for i, _ in lost
        ),
        evidence={"text": excerpt(first.reasoning), "messages": len(lost)},
    )


def _is_lost(found: Comparison, i: int, j: int, facts: Facts) -> bool:
    left, right = found.left_messages[i], found.right_messages[j]
    if not thinks(left) or thinks(right) or is_folded(left, right):
        return False
    return found.relation is Relation.RETURNED or _is_needed(left, facts)


def _is_needed(message: Message, facts: Facts) -> bool:
    return facts.assume.reasoning_echo != "tool_turns" or bool(message.calls)


def _unwanted(prompt: Prompt) -> bool:
    """Whether the client asked for replies without reasoning."""
    settings, inner = prompt.settings, prompt.settings.get("reasoning")
    off = [settings.get("include_reasoning"), settings.get("separate_reasoning")]
    return False in off or (isinstance(inner, dict) and inner.get("exclude") is True)
