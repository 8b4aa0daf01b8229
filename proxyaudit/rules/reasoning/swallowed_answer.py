"""reasoning.swallowed_answer"""

from collections.abc import Iterator

from proxyaudit.core.message import Reasoning, Text
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, visible, whole
from proxyaudit.rules.wording import excerpt


@rule("reasoning.swallowed_answer", severity="warn", on=Turn)
def swallowed_answer(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """The answer sits in the reasoning field and content is empty.

    What it does
        Looks at replies that ended of themselves (`stop`, not at the token limit) and hold
        reasoning, but neither text nor a call nor anything else.

    Why it matters
        The user gets an empty answer. The harness sends back an empty assistant message, or none,
        and the model never learns what it said.

    Example
        Bad: {"content": null, "reasoning_content": "Bowline and clove hitch."}, finish "stop"
        Good: {"content": "Bowline and clove hitch."}, finish "stop"

    What to look at next
        The reasoning parser of the server: with thinking switched off, many take the whole text for
        thinking, since no closing tag comes.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    others = [p for p in message.parts if not isinstance(p, Reasoning | Text)]
    if reply.finish != "stop" or others or reply.more or visible(message).strip():
        return
    if not message.reasoning.strip():
        return
    yield Found(
        f"the reply holds {len(message.reasoning):,} characters of reasoning and no answer",
        places=(at(turn, "response", message.pointer),),
        evidence={"text": excerpt(message.reasoning)},
    )
