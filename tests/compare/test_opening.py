"""Openings: what a harness says before every conversation ties no two conversations together."""

from turns import turn

from proxyaudit.compare.opening import begins_anew
from proxyaudit.compare.thread import Threader
from proxyaudit.core.message import ToolCall, assistant, system, tool, user
from proxyaudit.core.turn import Turn

S = system("You keep the inventory of a shed.")
OPENING = (user("The shed stands in the north."), assistant("Good to know."))
ASKED, ANSWER = user("How many rakes are there?"), assistant("There are three rakes.")


def groups(*turns: Turn) -> list[int]:
    threader = Threader()
    for each in turns:
        threader.place(each)
    return [len(c.turns) for c in threader.conversations]


def test_two_conversations_with_one_opening_are_two() -> None:
    first = turn(S, *OPENING, ASKED, reply=ANSWER)
    second = turn(S, *OPENING, ASKED, ANSWER, user("And spades?"), reply=assistant("Two."))
    other = turn(S, *OPENING, user("Who built it?"), reply=assistant("Nobody knows."))
    assert groups(first, second, other) == [2, 1]
    assert begins_anew([first, second], other)


def test_near_miss_a_history_that_tells_the_answer_in_other_words_around_it() -> None:
    first = turn(S, *OPENING, ASKED, reply=ANSWER)
    told = assistant("(thought for a while)\nThere are three  rakes.")
    again = turn(S, *OPENING, user("Rakes?"), told, user("And spades?"))
    assert not begins_anew([first], again)
    assert groups(first, again) == [2]


def test_near_miss_a_question_without_its_standing_instructions() -> None:
    first = turn(S, *OPENING, user("How many rakes?\n\nAnswer in one word."))
    again = turn(S, *OPENING, user("How many rakes?"), assistant("3"), user("And spades?"))
    assert not begins_anew([first], again)


def test_near_miss_a_recording_that_began_in_mid_conversation() -> None:
    call = ToolCall("1", "count", "{}")
    before = (user("Count."), assistant("", call), tool("1", "3"), assistant("Three."))
    first = turn(S, *before, ASKED, reply=ANSWER)
    assert not begins_anew([first], turn(S, *before, user("Who built it?")))


def test_other_instructions_in_mid_conversation_go_on_from_its_newest_reply() -> None:
    first = turn(S, *OPENING, ASKED, reply=ANSWER)
    poet = system("You are a poet.")
    assert groups(first, turn(poet, ASKED, ANSWER, user("Rhyme it."))) == [2]


def test_a_summary_asked_for_with_tools_that_are_forbidden_is_a_side_request() -> None:
    first = turn(S, ASKED, reply=ANSWER, tools=["count"])
    chore = user("Answer in words only. Do not call any tools. Write a detailed summary of all.")
    threader = Threader()
    threader.place(first)
    threader.place(turn(S, ASKED, ANSWER, chore, reply=assistant("Rakes."), tools=["count"]))
    assert [c.kind for c in threader.conversations] == ["main", "side"]
    wish = user("Write a summary of the conversation, and use the tools as you like.")
    threader.place(turn(S, ASKED, ANSWER, wish, reply=assistant("Rakes."), tools=["count"]))
    assert [len(c.turns) for c in threader.conversations] == [2, 1]


def test_the_same_first_question_again_behind_an_opening_is_no_retry() -> None:
    ask = [turn(S, *OPENING, ASKED, reply=ANSWER) for _ in "ab"]
    assert groups(*ask) == [1, 1]
    again = [turn(S, *OPENING, ASKED, ANSWER, user("And?"), reply=ANSWER) for _ in "ab"]
    assert groups(ask[0], *again) == [2], "a later one is"


def test_a_request_under_other_instructions_and_without_tools_is_a_side_request() -> None:
    threader = Threader()
    threader.place(turn(S, ASKED, reply=ANSWER, tools=["count"]))
    other = system("Distil what was said.")
    threader.place(turn(other, ASKED, ANSWER, user("Begin."), reply=assistant("Rakes: 3.")))
    assert [c.kind for c in threader.conversations] == ["main", "side"]


def test_a_side_request_that_the_harness_declares_needs_no_words() -> None:
    kind = (("x-codex-turn-metadata", '{"request_kind": "compaction"}'),)
    threader = Threader()
    threader.place(turn(S, ASKED, reply=ANSWER, tools=["count"]))
    threader.place(turn(S, ASKED, ANSWER, user("Begin."), reply=ANSWER, headers=kind))
    assert [c.kind for c in threader.conversations] == ["main", "side"]
