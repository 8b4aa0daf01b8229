"""context.silent_truncation"""

from collections.abc import Iterator

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.finding import Skip
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.context.growth import Stall, stalls
from proxyaudit.rules.context.tokens import counted, least_of
from proxyaudit.rules.reading import not_whole, whole

# Below so many words a wrong estimate, or a template that drops a part, weighs too much.
_BIG = 400
# A token a word is the bound; tokenizers that merge across words save a third at most.
_BOUND = 0.6


@rule("context.silent_truncation", severity="error", on=Turn)
def in_one_turn(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Reported prompt tokens are too few for what was sent; no error given.

    What it does
        Compares the prompt tokens that a reply reports with the least that the text of the request
        can be: a token a word, since no tokenizer in use reaches over a space. A prompt of 400
        words or more that is counted as less than six tenths of that was not read whole. Over the
        turns of a conversation it compares growth with growth: the count stops, or shrinks, while
        the history goes on growing. A client that asked for truncation is left alone.

    Why it matters
        Some servers drop the oldest part of a prompt that is too long, and answer the rest with
        status 200. The system prompt and the task go first.

    Example
        Bad: 4,500 words are sent, {"usage": {"prompt_tokens": 512}}
        Good: 4,500 words are sent, {"usage": {"prompt_tokens": 5400}}, or a 400 that names the
        limit.

    What to look at next
        The server's context size (`n_ctx`, `num_ctx`, `max_model_len`) and its truncation or
        context-shift options; the proxy's "context optimiser", if upstream counts another prompt.
    """
    if whole(turn) is None:
        yield not_whole(turn)
        return
    tokens = counted(turn)
    if tokens is None:
        yield Skip("no prompt tokens were reported")
        return
    least = least_of(turn.prompt.messages)
    if least < _BIG or tokens >= _BOUND * least or _asked_for(turn):
        return
    yield Found(
        f"{tokens:,} prompt tokens were counted for a prompt of {least:,} words",
        places=(at(turn, "response", _pointer(turn)),),
        before=(at(turn, "request", turn.prompt.messages_pointer),),
        evidence={"prompt_tokens": tokens, "at_least": least},
    )


@rule("context.silent_truncation", severity="error", on=Conversation)
def over_turns(conversation: Conversation, facts: Facts) -> Iterator[Outcome]:
    turns = [t for t in conversation.turns if t.ok and not _asked_for(t)]
    if sum(counted(t) is not None for t in turns) < 2:
        yield Skip("fewer than two turns report prompt tokens")
        return
    for run in stalls(turns):
        first = run[0]
        yield Found(
            _sentence(first),
            places=tuple(at(s.turn, "response", _pointer(s.turn)) for s in run),
            before=(at(first.before, "response", _pointer(first.before)),),
            evidence={
                "prompt_tokens": [first.counted_before, *(s.counted for s in run)],
                "words_added": first.grown,
            },
        )


def _sentence(stall: Stall) -> str:
    change = "stayed at" if stall.counted == stall.counted_before else "went from"
    to = "" if stall.counted == stall.counted_before else f" to {stall.counted:,}"
    return (
        f"the prompt tokens {change} {stall.counted_before:,}{to} while the history grew by "
        f"{stall.grown:,} words"
    )


def _pointer(turn: Turn) -> str:
    usage = turn.reply.usage if turn.reply else None
    return usage.pointer if usage else "/usage"


def _asked_for(turn: Turn) -> bool:
    settings = turn.prompt.settings
    return settings.get("truncation") == "auto" or "context_management" in settings
