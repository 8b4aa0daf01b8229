"""output.foreign_content"""

from collections.abc import Iterator

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.finding import Skip
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.isolation.knowledge import Knowledge, Told, is_in_prompt, said, share
from proxyaudit.rules.isolation.particulars import Particular, content_words
from proxyaudit.rules.reading import text_place, whole
from proxyaudit.rules.wording import excerpt

_WEIGHT = {"code": 2, "name": 1}
# A code and a name; where it is one code, or all is names, half of what the reply speaks of has to
# be foreign.
_ENOUGH, _PLENTY, _MOSTLY, _HARDLY = 3, 6, 0.5, 0.2


@rule("output.foreign_content", severity="error", on=Traffic)
def foreign_content(traffic: Traffic, facts: Facts) -> Iterator[Outcome]:
    """The response holds particulars known only from another conversation.

    What it does
        Collects the particulars (codes, long numbers, addresses, names in the middle of a sentence)
        of everything that was put to a model, and looks for them in the replies of other
        conversations whose own request does not hold them. Conversations of one session, one user,
        one parent or one beginning may know the same, and so may three or more of any kind. One
        particular alone may be chance: a code and a name are asked for, and a reply that speaks of
        the other conversation rather than of its own; a code alone, or names alone, are enough
        where it speaks of hardly anything else.

    Why it matters
        One user reads what another one wrote. The cause, a mixed-up cache or buffer, also makes a
        model forget or garble its own conversation.

    Example
        Bad: "How many grams are two cups of oats?" is answered "Cabin K-4417 for Odalys Fenwright
        is confirmed", which another conversation had asked for
        Good: the same short answer to the same question in two conversations

    What to look at next
        The slots, prefix cache and response cache of the server; whether the two were answered at
        the same time. Which of the taps saw it first tells whose fault it is.
    """
    if len(traffic.conversations) < 2:
        yield Skip("there is only one conversation")
        return
    knowledge = Knowledge.of(traffic.conversations)
    for conversation in traffic.conversations:
        for turn in conversation.turns:
            if whole(turn) is not None:
                yield from _judged(knowledge, conversation, turn)


def _judged(knowledge: Knowledge, own: Conversation, turn: Turn) -> Iterator[Found]:
    text, particulars = said(turn)
    response = turn.exchange.response
    since = turn.exchange.started_at
    until = since + ((response.ended_at if response else None) or 0.0)
    groups: dict[str, list[tuple[Particular, Told]]] = {}
    for particular in particulars:
        strangers = knowledge.strangers(particular.word, own, since, until)
        if strangers and not is_in_prompt(particular.word, turn):
            for id_, told in strangers.items():
                groups.setdefault(id_, []).append((particular, told))
    words = content_words(text)
    for id_, hits in groups.items():
        if _is_foreign(turn, words, hits):
            yield _found(turn, id_, hits, text)
            return


def _is_foreign(turn: Turn, words: set[str], hits: list[tuple[Particular, Told]]) -> bool:
    weight = sum(_WEIGHT[particular.kind] for particular, _ in hits)
    codes = any(particular.kind == "code" for particular, _ in hits)
    if len(hits) < 2 and not codes:
        return False
    if codes and len(hits) >= 2 and weight >= _PLENTY:
        return True
    ours = share(words, turn.prompt.messages)
    if codes and len(hits) >= 2 and weight >= _ENOUGH:
        return max(share(words, told.turn.prompt.messages) for _, told in hits) > ours
    # Long histories hold half of all words: what counts is the message that told it.
    theirs = share(words, [told.message for _, told in hits])
    return theirs >= _MOSTLY and ours <= _HARDLY


def _found(turn: Turn, id_: str, hits: list[tuple[Particular, Told]], text: str) -> Found:
    message = turn.reply.message if turn.reply else None
    told = hits[0][1]
    words = [particular.word for particular, _ in hits]
    return Found(
        f"the reply holds {', '.join(f'“{w}”' for w in words[:4])}, known only from another "
        f"conversation ({id_})",
        places=(text_place(turn, message) if message else at(turn, "response", ""),),
        before=(at(told.turn, "request", told.message.pointer),),
        confidence="likely",
        evidence={"particulars": list(words), "conversation": id_, "text": excerpt(text)},
    )
