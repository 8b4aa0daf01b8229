"""tool.arguments_double_encoded"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import canonical_arguments, canonical_json
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.reading import not_whole, whole
from proxyaudit.rules.tools.calls import call_pairs
from proxyaudit.rules.tools.offered import takes_free_text
from proxyaudit.rules.tools.twice import is_packed_input, unwrapped
from proxyaudit.rules.wording import actor, excerpt, where


@rule("tool.arguments_double_encoded", severity="error", on=Turn)
def in_reply(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Arguments are a JSON string that holds JSON.

    What it does
        Unpacks the arguments of every call in a reply. If what comes out is a string that is JSON
        itself, they were packed once too often. Between two taps or two turns it also says who did
        it: arguments that were an object on one side and are such a string on the other.

    Why it matters
        The harness gets a string where the tool wants an object, and the call fails. The model sees
        its own call with a thicket of backslashes, and imitates it.

    Example
        Bad: {"arguments": "\\"{\\\\\\"path\\\\\\": \\\\\\"a.txt\\\\\\"}\\""}
        Good: {"arguments": "{\\"path\\": \\"a.txt\\"}"}

    What to look at next
        Any layer that turns arguments into an object and back: translators between dialects do.
    """
    said = whole(turn)
    if said is None:
        yield not_whole(turn)
        return
    for call in said[1].calls:
        packed = unwrapped(call.arguments) is not None or is_packed_input(turn, call)
        if not packed or takes_free_text(turn.prompt, call.name):
            continue
        yield Found(
            f"the arguments of {call.name or 'a call'} are a JSON string that holds JSON",
            places=(at(turn, "response", call.pointer),),
            evidence={"text": excerpt(call.arguments), "id": call.id},
        )


@rule(
    "tool.arguments_double_encoded",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def on_the_way(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    for i, j, left, right in call_pairs(found):
        inner = unwrapped(right.arguments)
        if inner is None or canonical_json(inner) != canonical_arguments(left.arguments):
            continue
        yield Found(
            f"{actor(found)} packed the arguments of {right.name or 'a call'} into JSON once more "
            f"{where(found)}",
            places=(found.right_place(j, right.pointer),),
            before=(found.left_place(i, left.pointer),),
            evidence={"before": excerpt(left.arguments), "after": excerpt(right.arguments)},
        )
