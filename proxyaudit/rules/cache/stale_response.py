"""cache.stale_response"""

from collections.abc import Iterator

from proxyaudit.core.finding import Confidence, Place
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.cache.answers import (
    asks_the_same,
    counts,
    from_a_cache,
    goes_on_from,
    id_of,
    said,
    same_messages,
    text_of,
)
from proxyaudit.rules.context.tokens import least_of
from proxyaudit.rules.reading import whole
from proxyaudit.rules.wording import excerpt

# Without an equal id: so many letters, equal counts, and prompts so different in size.
_LETTERS, _WORDS, _RATIO = 40, 10, 1.25
# Where more is known: a longer prompt cannot have as few tokens, and a header may say it.
_FEW_LETTERS = 12


@rule("cache.stale_response", severity="error", on=Traffic)
def stale_response(traffic: Traffic, facts: Facts) -> Iterator[Found]:
    """An earlier response was served again for a different request.

    What it does
        Reports a reply that bears the id and says the words of an earlier one of the recording,
        though another prompt was sent, or the same to another model or with other settings. A reply
        with another id is reported if text and token counts are those of an earlier reply to a
        prompt of quite another size, or one that this prompt goes on from; and if a header says
        that a cache answered. The same request again may be answered from a cache; a server that
        gives every reply the same id is left alone.

    Why it matters
        The user reads the answer to another question, or another user's. With tool calls, the
        agent does again what it has done.

    Example
        Bad: "Now remove the spade." is answered by reply r-601, "Noted: three rakes, one spade."
        Good: another id for every answer

    What to look at next
        The key of the cache: nginx's `$request_body` is empty once a body is large. `x-cache`.
    """
    told = [turn for turn in traffic.turns if (found := whole(turn)) and not found[1].is_empty]
    by_reply: dict[str, list[Turn]] = {}
    texts: dict[str, set[str]] = {}
    for turn in told:
        texts.setdefault(id_of(turn), set()).add(said(turn))
    for turn in told:
        earlier = by_reply.setdefault(said(turn), [])
        if match := next((m for e in earlier if (m := _match(e, turn, texts))), None):
            yield _found(*match, turn)
        earlier.append(turn)


def _match(earlier: Turn, turn: Turn, texts: dict[str, set[str]]) -> tuple[Turn, Confidence] | None:
    """Two replies with the same words: is the later one the earlier, served again?"""
    if id_of(turn) and id_of(turn) == id_of(earlier) and len(texts[id_of(turn)]) == 1:
        return None if asks_the_same(earlier, turn) else (earlier, "certain")
    letters = len(text_of(turn))
    cached = letters >= _FEW_LETTERS and from_a_cache(turn)
    alike = counts(turn) is not None and counts(turn) == counts(earlier)
    if not (cached or alike) or same_messages(earlier, turn):
        return None
    long = letters >= _LETTERS and _are_unlike(earlier, turn)
    more = letters >= _FEW_LETTERS and goes_on_from(earlier, turn)
    return (earlier, "likely") if cached or long or more else None


def _are_unlike(earlier: Turn, turn: Turn) -> bool:
    """Whether the two prompts cannot possibly have the same number of tokens."""
    short, long = sorted((least_of(earlier.prompt.messages), least_of(turn.prompt.messages)))
    return long - short >= _WORDS and long >= _RATIO * short


def _found(earlier: Turn, confidence: Confidence, turn: Turn) -> Found:
    same = f"reply “{id_of(turn)}”" if confidence == "certain" else "same words and token counts"
    return Found(
        f"an earlier answer was served again for another request ({same})",
        places=(_place(turn),),
        before=(_place(earlier),),
        confidence=confidence,
        evidence={"id": id_of(turn), "text": excerpt(text_of(turn))},
    )


def _place(turn: Turn) -> Place:
    stream = turn.reply is not None and turn.reply.stream is not None
    return at(turn, "response", "/stream" if stream else "/id")
