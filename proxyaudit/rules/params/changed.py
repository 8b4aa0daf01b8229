"""param.changed"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.message import canonical_json
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.params.differences import differences
from proxyaudit.rules.wording import actor


@rule("param.changed", severity="warn", on=Comparison, relations=(Relation.FORWARDED,))
def changed(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A request parameter has another value upstream.

    What it does
        Compares the values of the settings that a request has at both taps, under names that all
        dialects share. 1.0 is 1, a 32-bit float is near enough, one stop word is a list of one, and
        an object may gain keys (`stream_options`).

    Why it matters
        A lowered output limit cuts answers in the middle, another temperature makes runs that
        cannot be repeated, another tool choice makes the model call tools that it must not.

    Example
        Bad: {"max_tokens": 800} is sent on as {"max_tokens": 16}
        Good: {"max_tokens": 800} is sent on as {"max_completion_tokens": 800}

    What to look at next
        Defaults and limits in the gateway's configuration for this model.
    """
    for item in differences(found):
        if item.kind == "changed":
            old, new = canonical_json(item.left), canonical_json(item.right)
            yield Found(
                f"{actor(found)} changed the parameter {item.name} from {old[:60]} to {new[:60]}",
                places=(at(found.right, "request", item.right_pointer),),
                before=(at(found.left, "request", item.left_pointer),),
                severity=item.severity,
                evidence={"parameter": item.name, "before": old, "after": new},
            )
