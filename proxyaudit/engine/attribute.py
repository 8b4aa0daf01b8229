"""Who did it, where one exchange shows a fault and perhaps a second tap saw the same exchange.

A fault of the reply that the upstream tap saw too came out of the backend; one that only the client
saw was made by the proxy. A fault of the request is the harness's, unless only the upstream tap
shows it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxyaudit.core.finding import Suspect
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Found


def attribute(
    turn: Turn, here: Sequence[Found], there: Sequence[Found] | None
) -> Iterator[tuple[Found, Suspect]]:
    """Give each finding a suspect. `there` are the findings of the same rule at the second tap;
    none if the exchange did not get there, None if there is no second tap."""
    if there is None:
        for found in here:
            yield found, _alone(turn, found)
        return
    twins = {_in_request(f): f for f in reversed(there)}
    seen: set[bool] = set()
    for found in here:
        side = _in_request(found)
        seen.add(side)
        twin = twins.get(side)
        if twin:
            found = replace(found, places=(*found.places, *twin.places))
        yield found, _with_two(side, twin is not None)
    for found in there:
        if _in_request(found) not in seen:
            yield found, "proxy" if _in_request(found) else "server"


def _in_request(found: Found) -> bool:
    return found.places[0].side.endswith("request")


def _alone(turn: Turn, found: Found) -> Suspect:
    if not _in_request(found):
        return "upstream" if turn.exchange.tap == "client" else "server"
    return "harness" if turn.exchange.tap == "client" else "unknown"


def _with_two(in_request: bool, both: bool) -> Suspect:
    if in_request:
        return "harness"
    return "server" if both else "proxy"
