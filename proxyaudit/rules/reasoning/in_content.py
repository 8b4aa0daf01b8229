"""reasoning.in_content"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, rule
from proxyaudit.rules.reading import asked, not_whole, text_place, visible, whole, without_code
from proxyaudit.rules.reasoning.tags import find_leak
from proxyaudit.rules.wording import excerpt


@rule("reasoning.in_content", severity="warn", on=Turn)
def in_content(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Thinking text or its tags sit in the visible content.

    What it does
        Looks at the start of a reply's visible text for the marks with which models begin their
        thinking (`<think>`, `[THINK]`, gpt-oss channels, …), and in the text, code apart, for a
        block of it or a closing tag that nothing opened. If the request itself shows the tag, the
        text may be meant, and it is reported at info.

    Why it matters
        The user reads the model's notes. The harness sends them back as the answer, where most chat
        templates would have dropped them: the prompt grows, and the model copies the habit.

    Example
        Bad: {"content": "<think>They want one line.</think>A ramp for boats."}
        Good: {"reasoning_content": "They want one line.", "content": "A ramp for boats."}

    What to look at next
        The server's reasoning parser for this model, and whether the chat template opens the tag
        itself, so that only the closing one is in the text.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    _, message = said
    text = visible(message)
    leak = find_leak(text, without_code(text))
    if leak is None:
        return
    opening = leak.mark.replace("/", "").lower()
    shown = any(opening in told.lower() for told in asked(turn.prompt))
    yield Found(
        f"thinking stands in the visible text ({leak.mark})",
        places=(text_place(turn, message),),
        severity="info" if shown else None,
        confidence="certain" if leak.certain else "likely",
        evidence={"text": excerpt(text)},
    )
