"""output.repetition"""

from collections.abc import Iterator

from proxyaudit.core.finding import Place, Severity
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.output.loops import Loop, find_loop
from proxyaudit.rules.reading import not_whole, text_place, visible, whole
from proxyaudit.rules.wording import excerpt

# So many rounds, and so large a share of the text; or the text ends in it.
_ROUNDS, _SHARE = 4, 0.5
# A round with a counter in it is a list as often as a loop: it has to be a sentence or more.
_SENTENCE, _COUNTED_ROUNDS = 8, 8
# No list that somebody wants is cut off after so many lines that differ by their number alone.
_TO_THE_LIMIT, _CLAUSE = 20, 3
# So many letters are asked for on purpose.
_ASKED = 8


@rule("output.repetition", severity="warn", on=Turn)
def repetition(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """The output is a loop.

    What it does
        Looks for a stretch of up to 300 words that is said four times or more in a row, over 60
        words or more, in the text and in the reasoning of a reply; once more with digits masked,
        for loops that count. Tables, code and rulers are left out, unless the text ran into the
        token limit with them; then a shorter run is enough, too. Lines that count are told at info,
        for they may be a list; so is a loop in the middle of a longer text, and one whose words the
        user asked for.

    Why it matters
        A loop feeds itself: once it is in the history, the next reply goes on with it. It burns the
        token budget, and no answer comes.

    Example
        Bad: "The gate opens when the water is level." seventy times, finish "length"
        Good: a table with many alike rows

    What to look at next
        The sampling parameters that reached the server (temperature 0, a dropped
        `repetition_penalty`), quantisation, and the length at which it begins.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    reply, message = said
    cut = reply.finish == "length"
    for what, text, place in _texts(turn, message):
        loop = find_loop(text, cut=cut)
        if loop is not None and _is_told(loop, cut=cut):
            yield Found(
                f"the {what} says one thing {loop.times} times in a row: “{loop.text[:60]}”",
                places=(place,),
                confidence="likely",
                severity=_severity(loop, turn, cut=cut),
                evidence={
                    "times": loop.times,
                    "share": round(loop.share, 2),
                    "finish": reply.finish,
                    "text": excerpt(loop.text),
                },
            )


def _texts(turn: Turn, message: Message) -> Iterator[tuple[str, str, Place]]:
    yield "reply", visible(message), text_place(turn, message)
    thoughts = [t.pointer for t in message.thoughts if t.text]
    if thoughts:
        yield "reasoning", message.reasoning, at(turn, "response", thoughts[0] or message.pointer)


def _is_told(loop: Loop, *, cut: bool) -> bool:
    if not loop.counts:
        return loop.times >= _ROUNDS
    enough = _CLAUSE if cut and loop.at_end and loop.times >= _TO_THE_LIMIT else _SENTENCE
    return loop.times >= _COUNTED_ROUNDS and _said(loop) >= enough


def _speaks(loop: Loop) -> bool:
    return not loop.counts or _said(loop) >= _CLAUSE


def _said(loop: Loop) -> int:
    return sum(word.isalpha() for word in loop.text.split())


def _severity(loop: Loop, turn: Turn, *, cut: bool) -> Severity | None:
    """None for the rule's own; info for what may well be meant."""
    if cut and loop.at_end and loop.times >= _TO_THE_LIMIT and _speaks(loop):
        return None
    if (loop.counts and loop.lines) or (not cut and _is_asked_for(loop, turn)):
        return "info"
    return None if loop.at_end or loop.share >= _SHARE else "info"


def _is_asked_for(loop: Loop, turn: Turn) -> bool:
    """Whether the user's last message holds what is said over and over: "write … twenty times"."""
    last = next((m for m in reversed(turn.prompt.messages) if m.role == "user"), None)
    once = _letters(loop.text)
    return last is not None and len(once) >= _ASKED and once in _letters(last.text)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())
