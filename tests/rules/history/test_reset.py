"""history.reset"""

import pytest
from comparing import LABEL, across_turns
from inline_snapshot import snapshot
from turns import turn

from proxyaudit.core.message import assistant, system, user

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")
NAME = "history.reset"


def test_only_the_newest_message_is_left() -> None:
    found = across_turns(
        NAME,
        turn(S, A, reply=B, headers=LABEL),
        turn(S, A, B, C, reply=D, headers=LABEL),
        turn(S, user("write the list to a file"), headers=LABEL),
    )
    assert [f.message for f in found] == snapshot(
        ["the harness sent the conversation on with none of its 4 messages"]
    )


def test_the_system_prompt_may_be_gone_too() -> None:
    assert across_turns(
        NAME,
        turn(S, A, B, C, reply=D, headers=LABEL),
        turn(user("write the list to a file"), headers=LABEL),
    )


def test_a_whole_history_is_none() -> None:
    assert across_turns(NAME, turn(S, A, reply=B), turn(S, A, B, C)) == []


def test_near_miss_a_marked_summary_stands_for_it() -> None:
    assert (
        across_turns(
            NAME,
            turn(S, A, B, C, reply=D, headers=LABEL),
            turn(S, user("<summary>three rakes, two cans</summary>"), user("go"), headers=LABEL),
        )
        == []
    )


@pytest.mark.parametrize(
    "opening",
    [
        "Previous context (compressed): three rakes, two cans.",
        "[Earlier conversation]\nThree rakes, two cans.",
        "The conversation was compressed: three rakes, two cans.",
        "Recap of our session: three rakes, two cans.",
    ],
)
def test_near_miss_openings_that_announce_earlier_history(opening: str) -> None:
    left = turn(S, A, B, C, reply=D, headers=LABEL)
    assert across_turns(NAME, left, turn(S, user(opening), user("go"), headers=LABEL)) == []


@pytest.mark.parametrize(
    "text",
    [
        "In the previous messages: which list did you mean?",
        "Compare the digest of the file with the earlier one.",
        "Previous history teachers. Who were they?",
    ],
)
def test_words_about_earlier_things_are_no_summary(text: str) -> None:
    left = turn(S, A, B, C, reply=D, headers=LABEL)
    assert across_turns(NAME, left, turn(S, user(text), headers=LABEL))


def test_near_miss_the_first_message_was_edited() -> None:
    assert (
        across_turns(
            NAME,
            turn(S, A, B, C, reply=D, headers=LABEL),
            turn(S, user("three new rakes"), headers=LABEL),
        )
        == []
    )


def test_a_question_that_resembles_the_earlier_ones_is_a_reset_all_the_same() -> None:
    asked = [user(f"Question {n}: what is {n} plus {n}?") for n in range(1, 4)]
    said = [assistant(f"It is {2 * n}.") for n in range(1, 4)]
    history = [m for pair in zip(asked, said, strict=True) for m in pair]
    found = across_turns(
        NAME,
        turn(S, *history[:-1], reply=history[-1], headers=LABEL),
        turn(S, user("Question 4: what is 4 plus 4?"), headers=LABEL),
    )
    assert len(found) == 1


def test_the_newest_message_may_share_words_with_the_first() -> None:
    found = across_turns(
        NAME,
        turn(S, user("Start a shed list."), B, C, reply=D, headers=LABEL),
        turn(S, user("Write the whole shed list."), headers=LABEL),
    )
    assert len(found) == 1


def test_a_question_that_failed_is_asked_again_without_all_that_came_before_it() -> None:
    failed = turn(S, A, B, C, status=500, error="overloaded", headers=LABEL)
    assert across_turns(NAME, turn(S, A, reply=B, headers=LABEL), failed, turn(S, C, headers=LABEL))


def test_near_miss_the_failed_question_with_the_turn_before_it() -> None:
    failed = turn(S, A, B, C, D, user("and a hose"), status=500, error="no", headers=LABEL)
    again = turn(S, C, D, user("and a hose"), headers=LABEL)
    assert across_turns(NAME, turn(S, A, B, C, reply=D, headers=LABEL), failed, again) == []
