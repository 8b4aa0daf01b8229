"""Places in words."""

from inline_snapshot import snapshot

from proxyaudit.core.report import ReportedPlace
from proxyaudit.report.places import place_lines

_NUMBERS = {f"e{n}": n for n in range(1, 12)}


def _places(*exchanges: str, pointer: str = "/messages") -> list[ReportedPlace]:
    return [ReportedPlace(exchange=e, side="client.request", pointer=pointer) for e in exchanges]


def test_a_place_names_turn_side_and_pointer() -> None:
    assert place_lines(_places("e5"), _NUMBERS) == snapshot(["turn 5 · client.request /messages"])


def test_many_places_are_counted_with_their_turns() -> None:
    places = _places("e5", "e6", "e7", "e8", "e9", "e11")
    assert place_lines(places, _NUMBERS) == snapshot(
        ["turn 5 · client.request /messages", "and 5 more, turns 6–9, 11"]
    )
    assert len(place_lines(places, _NUMBERS, whole=True)) == len(places)


def test_pointers_into_one_body_share_a_line() -> None:
    places = [p for n in range(1, 6) for p in _places("e2", pointer=f"/messages/{n}")]
    assert place_lines(places, _NUMBERS) == snapshot(
        ["turn 2 · client.request /messages/1, /messages/2, /messages/3 and 2 more"]
    )


def test_an_exchange_that_is_no_turn_is_named() -> None:
    assert place_lines(_places("x\x1b1"), {}) == snapshot(
        ["exchange x\\x1b1 · client.request /messages"]
    )
    assert place_lines(_places("a", "b", "c"), {}) == snapshot(
        ["exchange a · client.request /messages", "and 2 more, in 2 exchanges"]
    )
