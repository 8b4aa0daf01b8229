"""Values that are worked out along a history that grows."""

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.history import Fold, shared
from proxyaudit.core.message import Message, user

POOL = [user(letter) for letter in "abc"]
TWINS = [user(letter) for letter in "abc"]
HISTORIES = st.lists(st.sampled_from([*POOL, *TWINS]), max_size=8).map(tuple)


def _step(state: str, message: Message) -> str:
    return state + message.text


@given(st.lists(HISTORIES, max_size=30))
def test_a_fold_gives_what_a_walk_from_the_start_gives(
    histories: list[tuple[Message, ...]],
) -> None:
    fold = Fold("", _step)
    for history in histories:
        assert fold(history) == "".join(m.text for m in history)


def test_a_history_that_grows_costs_its_new_messages() -> None:
    seen: list[str] = []

    def step(count: int, message: Message) -> int:
        seen.append(message.text)
        return count + 1

    fold = Fold(0, step)
    assert [fold(tuple(POOL[:n])) for n in range(4)] == [0, 1, 2, 3]
    assert seen == ["a", "b", "c"]


def test_shared_asks_for_the_same_objects() -> None:
    assert shared(POOL, POOL[:2]) == 2
    assert shared(POOL, TWINS) == 0
    assert shared([], POOL) == 0
