"""message.rewritten"""

from comparing import across_hop, across_turns
from inline_snapshot import snapshot
from turns import turn

from proxyaudit.core.message import Message, Text, ToolCall, assistant, system, tool, user

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")
NAME = "message.rewritten"


def test_a_note_lost_from_a_user_message() -> None:
    found = across_turns(
        NAME,
        turn(S, A, B, user("add two cans, both of them green"), reply=D),
        turn(S, A, B, user("add two cans, both"), D, user("more")),
    )
    assert [f.message for f in found] == snapshot(
        [
            "the harness changed the user message “add two cans, both of them green” since the last turn"
        ]
    )
    assert found[0].severity is None
    assert found[0].evidence == snapshot(
        {"before": "add two cans, both of them green", "after": "add two cans, both"}
    )


def test_a_message_changed_between_the_taps() -> None:
    found = across_hop(NAME, turn(S, A), turn(S, user("three spades"), tap="upstream"))
    assert [f.message for f in found] == snapshot(
        ["the proxy changed the user message “three rakes” between the taps"]
    )


def test_equal_text_is_none() -> None:
    assert across_turns(NAME, turn(S, A, reply=B), turn(S, A, B, C)) == []


def test_near_miss_other_arguments_are_another_rules_business() -> None:
    old = assistant("", ToolCall("1", "f", '{"a": 1}'))
    new = assistant("", ToolCall("1", "f", '{"a": 2}'))
    assert across_turns(NAME, turn(S, A, reply=old), turn(S, A, new, tool("1", "x"))) == []


def test_near_miss_a_system_prompt_may_drift_from_turn_to_turn() -> None:
    today = system("You keep a shed. It is Monday.")
    tomorrow = system("You keep a shed. It is Tuesday.")
    found = across_turns(NAME, turn(today, A, reply=B), turn(tomorrow, A, B, C))
    assert [f.severity for f in found] == ["info"]


def test_near_miss_white_space_cut_off_the_ends_of_a_reply() -> None:
    found = across_turns(NAME, turn(S, A, reply=assistant("\n\nnoted \n")), turn(S, A, B, C))
    assert [f.severity for f in found] == ["info"]


def test_near_miss_reasoning_folded_into_the_text() -> None:
    thinking = assistant("noted", reasoning="They want a note.")
    folded = assistant("They want a note.noted")
    found = across_turns(NAME, turn(S, A, reply=thinking), turn(S, A, folded, C))
    assert [f.severity for f in found] == ["info"]


def test_near_miss_folded_reasoning_taken_out_again_or_joined_to_the_text() -> None:
    apart = Message("assistant", (Text("They want a note."), Text("noted")))
    for back in (
        assistant("noted", reasoning="They want a note."),
        assistant("They want a note.noted"),
    ):
        found = across_turns(NAME, turn(S, A, apart, C, reply=B), turn(S, A, back, C, B, A))
        assert [f.severity for f in found] == ["info"]


def test_text_parts_joined_by_a_blank_line_are_told_at_info() -> None:
    parts = Message("user", (Text("three rakes"), Text("add two cans")))
    joined = turn(S, user("three rakes\n\nadd two cans"), tap="upstream")
    found = across_hop(NAME, turn(S, parts), joined)
    assert [f.severity for f in found] == ["info"]


def test_near_miss_joined_parts_with_a_word_more() -> None:
    parts = Message("user", (Text("three rakes"), Text("add two cans")))
    joined = turn(S, user("three rakes\n\nadd two old cans"), tap="upstream")
    assert [f.severity for f in across_hop(NAME, turn(S, parts), joined)] == [None]
