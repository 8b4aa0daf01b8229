"""cache.prefix_broken, where many turns tell more than two."""

from collections.abc import Iterator
from itertools import pairwise

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.harnesses.base import harness_of
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.cache.drift import drift
from proxyaudit.rules.wording import around

# Once is a change of mind, twice may be there and back again.
_TIMES, _VERSIONS, _SHARE = 2, 3, 0.5


@rule("cache.prefix_broken", severity="warn", on=Conversation)
def restless(conversation: Conversation, facts: Facts) -> Iterator[Found]:
    told = [(turn, system) for turn in conversation.turns if (system := _instructions(turn))]
    steps = [(a, b) for a, b in pairwise(told) if a[0].prompt.model == b[0].prompt.model]
    changed = [(a, b) for a, b in steps if a[1].content != b[1].content]
    if len(changed) < _TIMES or len(changed) < _SHARE * len(steps):
        return
    versions = {system.content for _, system in told}
    if len(versions) < _VERSIONS or harness_of(told[0][0].exchange, facts.assume.harness).rewrites:
        return
    in_words = [(a, b) for a, b in changed if drift(a[1].text, b[1].text) == "words"]
    if len(in_words) < _TIMES:
        return
    (first, old), (_, new) = in_words[0]
    yield Found(
        f"the instructions changed in {len(in_words)} of {len(steps)} turns",
        places=tuple(at(turn, "request", system.pointer) for _, (turn, system) in in_words),
        before=(at(first, "request", old.pointer),),
        confidence="likely",
        evidence={"change": "words", **around(old.text, new.text)},
    )


def _instructions(turn: Turn) -> Message | None:
    first = next(iter(turn.prompt.messages), None)
    return first if first and first.role == "system" else None
