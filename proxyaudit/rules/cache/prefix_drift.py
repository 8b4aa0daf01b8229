"""cache.prefix_broken, over a whole conversation"""

from collections.abc import Iterator
from itertools import pairwise

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn
from proxyaudit.harnesses.base import harness_of
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.cache.drift import drift
from proxyaudit.rules.cache.prefix_broken import FOR_PROVIDER
from proxyaudit.rules.wording import around

# Instructions may change once, and back again; in half of the turns they are no instructions.
_OFTEN, _VERSIONS = 2, 3


@rule("cache.prefix_broken", severity="warn", on=Conversation)
def again_and_again(conversation: Conversation, facts: Facts) -> Iterator[Found]:
    turns = [t for t in conversation.turns if _system(t)]
    if turns and harness_of(turns[0].exchange, facts.assume.harness).rewrites:
        return
    moved = [(a, b) for a, b in pairwise(turns) if _is_new(a, b)]
    if len({_system(t) for t in turns}) < _VERSIONS:
        return
    if len(moved) >= _OFTEN and 2 * len(moved) >= len(turns) - 1:
        yield Found(
            f"the system prompt is another one in {len(moved)} of {len(turns) - 1} turns",
            places=tuple(at(b, "request", b.prompt.messages[0].pointer) for _, b in moved),
            before=(at(moved[0][0], "request", moved[0][0].prompt.messages[0].pointer),),
            confidence="likely",
            evidence={**around(_system(moved[0][0]), _system(moved[0][1]))},
        )


def _system(turn: Turn) -> str:
    head = turn.prompt.messages[:1]
    return head[0].text if head and head[0].role == "system" else ""


def _is_new(before: Turn, turn: Turn) -> bool:
    old, new = _system(before), _system(turn)
    same = before.prompt.model == turn.prompt.model
    return same and old != new and drift(old, new) == "words" and FOR_PROVIDER not in new[:80]
