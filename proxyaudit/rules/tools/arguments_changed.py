"""tool.arguments_changed"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import ToolCall, canonical_arguments, canonical_json
from proxyaudit.dialects.fields import as_object, value_of_text
from proxyaudit.dialects.tools import definition
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.tools.calls import call_pairs, merged_calls, same_arguments
from proxyaudit.rules.tools.offered import names, names_are_known
from proxyaudit.rules.tools.streamed import is_object
from proxyaudit.rules.tools.twice import unwrapped
from proxyaudit.rules.wording import actor, excerpt, where


@rule(
    "tool.arguments_changed",
    severity="error",
    on=Comparison,
    relations=(Relation.NEXT_TURN, Relation.FORWARDED, Relation.RETURNED),
)
def arguments_changed(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Arguments differ in value between the two places.

    What it does
        Compares the arguments of calls that stand for each other as JSON values: the order of keys,
        spaces and escapes do not count. Calls that could not be run (no JSON object, an unknown
        tool) are often replaced by harnesses on purpose; that is reported at info, and so are the
        defaults of the tool's schema that a harness writes into a call.

    Why it matters
        The model is told that it called a tool with something else than it did. It goes on from
        that: it reports the wrong file as read, or repeats the call.

    Example
        Bad: the reply calls read_file {"path": "a.txt"}, the next request holds read_file {}.
        Good: {"path":"a.txt"} in the reply, {"path": "a.txt"} in the next request.

    What to look at next
        How the harness stores calls: many keep a parsed copy, and lose what their schema lacks.
    """
    joined = {j for i, j in found.differing if _is_merged(found, i, j)}
    for i, j, left, right in call_pairs(found):
        if j in joined or same_arguments(left, right) or _packed(left, right):
            continue
        yield Found(
            f"{actor(found)} changed the arguments of {left.name or 'a call'} {where(found)}",
            places=(found.right_place(j, right.pointer),),
            before=(found.left_place(i, left.pointer),),
            severity="info"
            if _could_not_run(found, left) or _filled_in(found, left, right)
            else None,
            evidence={"before": excerpt(left.arguments), "after": excerpt(right.arguments)},
        )


def _is_merged(found: Comparison, i: int, j: int) -> bool:
    return merged_calls(found.left_messages[i], found.right_messages[j]) is not None


def _packed(left: ToolCall, right: ToolCall) -> bool:
    """Whether one is the other packed once more; that has a rule of its own."""
    return any(
        (inner := unwrapped(outer.arguments)) is not None
        and canonical_json(inner) == canonical_arguments(other.arguments)
        for outer, other in ((left, right), (right, left))
    )


def _could_not_run(found: Comparison, call: ToolCall) -> bool:
    if found.relation is not Relation.NEXT_TURN:
        return False
    prompt = found.left.prompt
    strange = names_are_known(prompt) and call.name not in names(prompt)
    return strange or not is_object(call.arguments or "{}")


def _filled_in(found: Comparison, left: ToolCall, right: ToolCall) -> bool:
    """Whether all that the harness changed is that it put in defaults of the tool's schema."""
    if found.relation is not Relation.NEXT_TURN:
        return False
    tool = next((t for t in found.left.prompt.tools if t.name == left.name), None)
    old, new = value_of_text(left.arguments or "{}"), value_of_text(right.arguments or "{}")
    if tool is None or not isinstance(old, dict) or not isinstance(new, dict):
        return False
    schema = as_object(definition(tool)[1].get("parameters"))
    known = as_object(schema.get("properties"))
    defaults = {
        key: value["default"]
        for key, value in known.items()
        if isinstance(value, dict) and "default" in value and key not in old
    }
    added = {key: value for key, value in new.items() if key not in old}
    kept = {key: value for key, value in new.items() if key in old}
    return canonical_json(kept) == canonical_json(old) and all(
        key in defaults and canonical_json(value) == canonical_json(defaults[key])
        for key, value in added.items()
    )
