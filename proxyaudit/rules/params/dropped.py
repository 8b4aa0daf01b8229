"""param.dropped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.params.differences import differences
from proxyaudit.rules.wording import actor


@rule("param.dropped", severity="error", on=Comparison, relations=(Relation.FORWARDED,))
def dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """A request parameter is missing upstream.

    What it does
        Compares the settings of a request at the two taps, under names that all dialects share. A
        field that moved (`extra_body`) or was renamed (`max_completion_tokens`) is not missing, and
        neither is one that only said the default. Fields for the gateway itself (`user`,
        `metadata`, …), and those that another dialect has no word for, are reported at info.

    Why it matters
        The request still succeeds: with thinking off, without the stop word, with another seed.

    Example
        Bad: {"stop": ["END"], "max_tokens": 60} is sent on as {"max_tokens": 60}
        Good: the same settings, with `stream_options` added.

    What to look at next
        "Drop unsupported parameters" and allow-lists of the gateway.
    """
    for item in differences(found):
        if item.kind == "dropped":
            yield Found(
                f"{actor(found)} dropped the parameter {item.name}",
                places=(at(found.right, "request", item.right_pointer),),
                before=(at(found.left, "request", item.left_pointer),),
                severity=item.severity,
                evidence={"parameter": item.name, "value": item.left},
            )
