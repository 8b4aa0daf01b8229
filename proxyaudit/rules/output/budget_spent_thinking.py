"""output.budget_spent_thinking"""

from collections.abc import Iterator

from proxyaudit.core.message import Reasoning, Text
from proxyaudit.core.turn import Reply, Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, visible, whole
from proxyaudit.rules.wording import excerpt


@rule("output.budget_spent_thinking", severity="warn", on=Turn)
def budget_spent_thinking(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Reasoning used the whole token budget; no answer.

    What it does
        Looks at replies that ended at the token limit and hold reasoning (or had reasoning tokens
        counted), but neither text nor a call. An answer that began and was cut is another matter.

    Why it matters
        The user pays for the whole budget and gets nothing. The next turn begins without the
        thought, and may run into the same limit.

    Example
        Bad: {"content": "", "reasoning_content": "Alder has 1 lock …"}, finish "length"
        Good: {"content": "Alder, Birch, Cedar.", "reasoning_content": "…"}, finish "stop"

    What to look at next
        The request's `max_tokens` (does the proxy lower it?), a separate budget for thinking
        (`thinking.budget_tokens`, `reasoning_effort`), and the context size of the server.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    others = any(not isinstance(p, Reasoning | Text) for p in message.parts)
    if reply.finish != "length" or others or visible(message).strip():
        return
    tokens = reply.usage.reasoning if reply.usage else None
    if not message.reasoning.strip() and not tokens:
        return
    limit = turn.prompt.settings.get("max_tokens")
    budget = f" of {limit:,} tokens" if isinstance(limit, int) else ""
    yield Found(
        f"reasoning used the whole budget{budget}, and no answer came",
        places=(at(turn, "response", reply.finish_pointer),),
        evidence={
            "max_tokens": limit,
            "reasoning_tokens": tokens,
            "completion_tokens": _spent(reply),
            "text": excerpt(message.reasoning),
        },
    )


def _spent(reply: Reply) -> int | None:
    return reply.usage.completion if reply.usage else None
