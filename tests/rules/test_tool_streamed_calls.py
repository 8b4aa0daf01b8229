"""How the pieces of streamed calls become calls."""

import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.turn import CallDelta
from proxyaudit.rules.tools.streamed import Streamed, is_object, streamed_calls

PIECES = st.lists(
    st.sampled_from(["{", "}", "[", "]", '"', "\\", '"a":', "1", ",", " ", '"}"', "{}", '\\"'])
    | st.text(max_size=3),
    max_size=12,
)


def delta(event: int, arguments: str | None, **more: str) -> CallDelta:
    return CallDelta(event, 0, more.get("id"), more.get("name"), arguments)


@given(PIECES)
def test_a_call_is_complete_exactly_where_its_arguments_are_an_object(pieces: list[str]) -> None:
    """However an object is cut, also inside an escape, and whenever the question is put."""
    call, text = Streamed(), ""
    for number, piece in enumerate(pieces):
        call.add(delta(number, piece))
        text += piece
        assert call.complete == is_object(text)
        assert call.blank == (not text.strip())
        assert call.arguments == text


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3), st.data())
def test_a_whole_object_is_complete(held: dict[str, str], data: st.DataObject) -> None:
    text = json.dumps(held, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(text)))
    call = Streamed()
    call.add(delta(0, text[:cut]))
    call.add(delta(1, text[cut:]))
    assert call.complete


@pytest.mark.parametrize(
    ("first", "other", "calls"),
    [
        ({"id": "p", "name": "read"}, {}, 1),
        ({"id": "p", "name": "read"}, {"id": "p", "name": "read"}, 1),
        ({"id": "p", "name": "read"}, {"id": "q", "name": "read"}, 1),
    ],
)
def test_a_call_in_very_many_pieces_costs_no_time(
    first: dict[str, str], other: dict[str, str], calls: int
) -> None:
    """Each piece costs what it is long, whatever came before and whatever it repeats."""
    pieces = [delta(0, '{"text": "', **first)]
    pieces += [delta(n, "{word} ", **other) for n in range(1, 50_000)]
    pieces.append(delta(50_000, '"}', **other))
    begun = perf_counter()
    assert len(streamed_calls(pieces)) == calls
    assert perf_counter() - begun < 2


def test_many_calls_without_index_cost_no_time() -> None:
    pieces = [CallDelta(n, None, f"i{n}", "read", "{}") for n in range(20_000)]
    begun = perf_counter()
    assert len(streamed_calls(pieces)) == 20_000
    assert perf_counter() - begun < 2
