"""Pairing: which upstream request a client request caused."""

from turns import turn

from proxyaudit.compare.pair import pair
from proxyaudit.core.message import assistant, user
from proxyaudit.core.turn import Turn

A, B, C = user("first question"), assistant("first answer"), user("second question")


def pairs(clients: list[Turn], upstreams: list[Turn]) -> dict[str, list[str]]:
    return {hop.client.id: [t.id for t in hop.upstream] for hop in pair(clients, upstreams)}


def test_requests_at_the_same_time_are_told_apart_by_content() -> None:
    north, south = user("count the north"), user("count the south")
    clients = [turn(north, id="n", at=1.0), turn(south, id="s", at=1.01)]
    upstreams = [
        turn(south, id="us", at=1.02, tap="upstream"),
        turn(north, id="un", at=1.03, tap="upstream"),
    ]
    assert pairs(clients, upstreams) == {"n": ["un"], "s": ["us"]}


def test_a_request_that_lost_everything_is_paired_by_time() -> None:
    clients = [turn(A, B, C, id="c", at=1.0)]
    upstreams = [turn(user("quite another text"), id="u", at=1.1, tap="upstream")]
    assert pairs(clients, upstreams) == {"c": ["u"]}


def test_retries_of_the_proxy_belong_to_one_request() -> None:
    clients = [turn(A, id="c", at=1.0)]
    upstreams = [
        turn(A, id="u1", at=1.1, tap="upstream", status=500),
        turn(A, id="u2", at=1.2, tap="upstream"),
    ]
    assert pairs(clients, upstreams) == {"c": ["u1", "u2"]}


def test_a_quick_next_turn_does_not_go_to_the_turn_before_it() -> None:
    """It holds all that the turn before held, but that one had ended."""
    clients = [turn(A, id="c1", at=1.0), turn(A, B, C, id="c2", at=1.51)]
    upstreams = [
        turn(A, id="u1", at=1.001, tap="upstream"),
        turn(A, user("rewritten"), id="u2", at=1.511, tap="upstream"),
    ]
    assert pairs(clients, upstreams) == {"c1": ["u1"], "c2": ["u2"]}


def test_clocks_that_differ_a_little_are_forgiven_where_nothing_else_fits() -> None:
    clients = [turn(A, id="c", at=1.3)]
    assert pairs(clients, [turn(A, id="u", at=1.1, tap="upstream")]) == {"c": ["u"]}


def test_a_request_of_somebody_else_is_nobodys() -> None:
    clients = [turn(A, id="c", at=1.0)]
    assert pairs(clients, [turn(A, id="u", at=60.0, tap="upstream")]) == {}
