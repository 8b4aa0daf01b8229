"""A shelf gives back what it was given, in little room."""

import random

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.store.shelf import Shelf, _Packed


def _exchange(request: bytes, response: bytes | None = None) -> Exchange:
    answer = None if response is None else Response(200, (), response)
    return Exchange("e1", "client", 1.0, Request("POST", "http://m.test/", (), request), answer)


def _size(exchange: Exchange) -> int:
    """What the shelf keeps of a request, in bytes."""
    kept = vars(exchange.request)["body"]
    return len(kept.frame) if isinstance(kept, _Packed) else len(kept)


PIECES = st.lists(
    st.sampled_from([b"a" * 3000, bytes(range(256)) * 20, b"\x28\xb5\x2f\xfd", b"", b"xyz" * 9000]),
    max_size=4,
).map(b"".join)


@given(st.lists(st.tuples(PIECES, st.none() | PIECES), max_size=12), st.integers(0, 9000))
def test_what_comes_off_the_shelf_is_what_was_put_on_it(
    bodies: list[tuple[bytes, bytes | None]], room: int
) -> None:
    shelf = Shelf(room)
    given_ = [_exchange(*pair) for pair in bodies]
    taken = [shelf.put(exchange) for exchange in given_]
    assert taken == given_


def _histories(turns: int, seed: int = 7) -> list[bytes]:
    """Bodies of one session: each holds all before it."""
    dice, history, bodies = random.Random(seed), b"", list[bytes]()
    for _ in range(turns):
        history += dice.randbytes(1500).hex().encode()
        bodies.append(b'{"messages": [' + history + b'], "tools": []}')
    return bodies


def test_a_session_takes_the_room_of_its_words_not_of_its_requests() -> None:
    bodies = _histories(60)
    shelf = Shelf(0)
    kept = sum(_size(shelf.put(_exchange(body))) for body in bodies)
    assert kept < 4 * len(bodies[-1]) < sum(map(len, bodies)) / 7


def test_sessions_that_take_turns_are_each_packed_with_their_own() -> None:
    one, two = _histories(30), _histories(30, seed=8)
    shelf = Shelf(0)
    mixed = [body for pair in zip(one, two, strict=True) for body in pair]
    kept = sum(_size(shelf.put(_exchange(body))) for body in mixed)
    assert kept < sum(map(len, mixed)) / 3


def test_what_fits_into_the_room_stays_as_it_is() -> None:
    shelf = Shelf(10_000)
    first, second = (_exchange(letter * 8000) for letter in (b"a", b"b"))
    assert shelf.put(first) is first
    assert _size(shelf.put(second)) < 100
