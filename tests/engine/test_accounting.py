"""Token accounting: what the counts of a session say of it, without a tokenizer."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from turns import turn

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Media, Message, Text, assistant, system, tool, user
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.engine.accounting import Account, account, account_json, accounts

S = system("You keep a shed. " * 10)


def said(*messages: Message, tokens: int | None, cached: int | None = None, at: float = 0) -> Turn:
    """A turn whose reply tells these counts."""
    made = turn(*messages, reply=assistant("ok"), at=at)
    assert made.reply
    return replace(made, reply=replace(made.reply, usage=Usage(prompt=tokens, cached=cached)))


def told(*turns: Turn, upstream: dict[str, Turn] | None = None) -> Account:
    return account(Conversation("c1", turns=list(turns)), upstream or {})


def grown(*lengths: int) -> list[tuple[Message, ...]]:
    """Histories: the system prompt, then a user message of each length, one more each time."""
    messages = [user("x" * n) for n in lengths]
    return [(S, *messages[: k + 1]) for k in range(len(messages))]


@given(st.lists(st.integers(40, 4000), min_size=4, max_size=12), st.sampled_from([2, 3, 4]))
def test_the_session_tells_how_many_characters_a_token_is(lengths: list[int], ratio: int) -> None:
    turns = []
    for history in grown(*lengths):
        characters = sum(len(m.text) for m in history)
        turns.append(said(*history, tokens=100 + characters // ratio))
    found = told(*turns)
    assert found.measured_steps == len(lengths) - 1
    assert found.characters_per_token is not None
    assert abs(found.characters_per_token - ratio) <= 0.1 * ratio


@given(
    st.lists(st.integers(200, 400), min_size=7, max_size=9), st.integers(1, 5), st.integers(1, 99)
)
def test_one_odd_count_does_not_move_the_estimate(
    lengths: list[int], odd: int, tokens: int
) -> None:
    turns = [said(*h, tokens=100 + sum(len(m.text) for m in h) // 4) for h in grown(*lengths)]
    turns[odd] = said(*turns[odd].prompt.messages, tokens=tokens)
    found = told(*turns)
    assert found.characters_per_token is not None
    assert 3.5 < found.characters_per_token < 4.5


def test_growth_is_told_in_tokens_and_characters() -> None:
    one, two = grown(100, 400)
    first, second = told(said(*one, tokens=60), said(*two, tokens=160)).turns
    assert (first.tokens_grown, first.characters_grown) == (None, None)
    assert (second.tokens_grown, second.characters_grown) == (100, 400)
    assert second.characters == len(S.text) + 500


def test_a_count_that_falls_while_the_history_grows_is_marked() -> None:
    one, two = grown(400, 400)
    assert told(said(*one, tokens=200), said(*two, tokens=90)).turns[1].marks == ("fell",)


def test_a_count_that_falls_with_the_history_is_not() -> None:
    """After a compaction both are smaller."""
    one, two = grown(400, 400)
    assert told(said(*two, tokens=200), said(*one, tokens=90)).turns[1].marks == ()


def test_reasoning_that_the_template_leaves_out_is_no_fall() -> None:
    thought = (S, user("go on"), assistant("yes", reasoning="h" * 900))
    left, right = (*thought, user("and")), (*thought, user("and"), user("then go on again"))
    assert told(said(*left, tokens=400), said(*right, tokens=150)).turns[1].marks == ()
    assert told(said(*left, tokens=500), said(*right, tokens=100)).turns[1].marks == ("fell",)


def test_pictures_are_not_held_against_the_count() -> None:
    shown = Message("user", (Text("look"), Media("image", "d1")))
    turns = said(S, shown, tokens=1500), said(S, shown, user("w" * 90), tokens=300)
    found = told(*turns)
    assert found.turns[1].marks == ()
    assert found.characters_per_token is None


def test_another_model_counts_in_another_way() -> None:
    one, two = grown(400, 400)
    left, right = said(*one, tokens=200), said(*two, tokens=90)
    right = replace(right, prompt=replace(right.prompt, model="other"))
    assert told(left, right).turns[1].marks == ()


def test_a_cache_that_is_read_far_less_is_marked() -> None:
    one, two, three = grown(400, 400, 400)
    turns = [
        said(*one, tokens=200, cached=150, at=0),
        said(*two, tokens=300, cached=280, at=10),
        said(*three, tokens=400, cached=0, at=700),
    ]
    found = told(*turns)
    assert [e.marks for e in found.turns] == [(), (), ("cache_dropped",)]
    assert [e.cached_share for e in found.turns] == [0.75, 0.933, 0.0]
    assert found.turns[2].seconds_since == 690


def test_a_share_that_falls_because_much_was_added_is_not() -> None:
    """The same tokens were read from the cache; a long result came on top."""
    one, two = grown(400, 9000)
    turns = said(*one, tokens=200, cached=190), said(*two, tokens=2500, cached=190)
    assert told(*turns).turns[1].marks == ()


def test_absent_counts_are_absent_and_not_zero() -> None:
    one, two = grown(100, 100)
    found = told(said(*one, tokens=None), said(*two, tokens=80, cached=None))
    first, second = found.turns
    assert (first.prompt_tokens, second.tokens_grown, second.cached_tokens) == (None, None, None)
    assert second.cached_share is None
    assert found.characters_per_token is None
    silent = told(turn(S, user("a")), turn(S, user("a"), tool("1", "b")))
    assert [e.prompt_tokens for e in silent.turns] == [None, None]


def test_a_cached_part_larger_than_the_whole_has_no_share() -> None:
    """Some servers count only what was not cached."""
    one, two = grown(400, 400)
    found = told(said(*one, tokens=20, cached=900), said(*two, tokens=30, cached=1))
    assert [e.cached_share for e in found.turns] == [None, 0.033]


def test_a_history_that_the_server_keeps_has_no_size() -> None:
    one, two = grown(400, 400)
    right = said(*two, tokens=90)
    right = replace(right, prompt=replace(right.prompt, previous_id="r-1"))
    second = told(said(*one, tokens=200), right).turns[1]
    assert (second.characters, second.characters_grown, second.marks) == (None, None, ())


def test_the_second_tap_is_named_only_where_it_counts_otherwise() -> None:
    one, two = grown(100, 100)
    left, right = said(*one, tokens=60, cached=3), said(*two, tokens=90, cached=3)
    upstream = {left.id: said(*one, tokens=60, cached=3), right.id: said(*two, tokens=70, cached=3)}
    first, second = told(left, right, upstream=upstream).turns
    assert (first.upstream_prompt_tokens, first.marks) == (None, ())
    assert (second.upstream_prompt_tokens, second.upstream_cached_tokens) == (70, None)
    assert second.marks == ("counted_otherwise",)
    assert account_json(told(left, upstream=upstream)) == {
        "conversation": "c1",
        "characters_per_token": None,
        "measured_steps": 0,
        "turns": [
            {
                "turn": 1,
                "exchange": left.id,
                "prompt_tokens": 60,
                "tokens_grown": None,
                "characters": len(S.text) + 100,
                "characters_grown": None,
                "cached_tokens": 3,
                "cached_share": 0.05,
                "seconds_since": None,
                "marks": [],
            }
        ],
    }


def test_a_message_that_many_turns_share_is_measured_once() -> None:
    """The second conversation sends the same objects: its sizes are the same."""
    histories = grown(100, 200, 300)
    one = Conversation("c1", turns=[said(*h, tokens=50) for h in histories])
    two = Conversation("c2", turns=[said(*h, tokens=50) for h in histories])
    first, second = accounts([one, two], {})
    assert [e.characters for e in first.turns] == [e.characters for e in second.turns]
    assert first.turns[2].characters == len(S.text) + 600
