"""usage.inconsistent"""

from collections.abc import Iterator

from proxyaudit.core.finding import Skip
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.context.tokens import least_of, least_tokens
from proxyaudit.rules.reading import not_whole, visible, whole

# A reply of so many words or more, counted as less than this share of them.
_TOO_FEW = ((40, 0.5), (10, 0.2))


@rule("usage.inconsistent", severity="warn", on=Turn)
def inconsistent(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Usage numbers do not add up or are zero beside real text.

    What it does
        Checks the numbers of one reply: prompt and completion against the total (reasoning or
        cached tokens may be counted apart), parts against their whole, no number below zero, no
        zero beside real text, and no reply of 40 words that is half as many tokens, or of ten
        that is a fifth.

    Why it matters
        Harnesses compact the history by these numbers, and people pay by them. Wrong numbers also
        make it impossible to tell whether the server read the whole prompt.

    Example
        Bad: 14 words and {"prompt_tokens": 13, "completion_tokens": 0, "total_tokens": 40}
        Good: {"prompt_tokens": 13, "completion_tokens": 17, "total_tokens": 30}

    What to look at next
        Whether the proxy counts with a tokenizer of its own, or loses the usage event of a stream
        and puts in what it had at the start.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    usage = reply.usage
    if usage is None:
        yield Skip("the reply carries no usage")
        return
    problems = [*_sums(usage), *_zeros(turn, usage, message), *_too_few(usage, message)]
    if problems:
        yield Found(
            f"the usage of the reply is wrong: {'; '.join(problems)}",
            places=(at(turn, "response", usage.pointer),),
            evidence={
                "prompt": usage.prompt,
                "completion": usage.completion,
                "total": usage.total,
                "cached": usage.cached,
                "reasoning": usage.reasoning,
            },
        )


def _sums(usage: Usage) -> Iterator[str]:
    numbers = (usage.prompt, usage.completion, usage.total, usage.cached, usage.reasoning)
    if any(number is not None and number < 0 for number in numbers):
        yield "a number is below zero"
        return
    prompt, completion, total = usage.prompt, usage.completion, usage.total
    cached, reasoning = usage.cached or 0, usage.reasoning or 0
    if prompt is None or completion is None:
        return
    apart = {prompt + completion + a + b for a in (0, cached) for b in (0, reasoning)}
    if total is not None and total not in apart:
        yield f"{prompt:,} and {completion:,} tokens are {prompt + completion:,}, not {total:,}"
    if 0 < prompt < cached and total == prompt + completion:
        yield f"{cached:,} of {prompt:,} prompt tokens were cached"
    if reasoning > completion and total != prompt + completion + reasoning:
        yield f"{reasoning:,} of {completion:,} completion tokens are reasoning"


def _zeros(turn: Turn, usage: Usage, message: Message) -> Iterator[str]:
    told = visible(message).strip() or message.calls or message.reasoning.strip()
    if usage.completion == 0 and told:
        yield "no completion tokens beside a reply"
    if usage.prompt == 0 and not usage.cached and least_of(turn.prompt.messages):
        yield "no prompt tokens beside a prompt"


def _too_few(usage: Usage, message: Message) -> Iterator[str]:
    least = least_tokens(visible(message))
    counted = usage.completion or 0
    if counted and any(least >= words and counted < share * least for words, share in _TOO_FEW):
        yield f"{counted:,} completion tokens for a text of {least:,} words"
