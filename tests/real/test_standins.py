"""The stand-ins for a harness's texts give nothing away and keep equal what was equal."""

from typing import Any

from real.standins import TITLE_REQUEST, stand_in, with_stand_ins

SYSTEM = "You are a careful helper.\nNever touch the garden.\n\nToday is a Monday."


def asked(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


def test_equal_lines_get_equal_words_and_one_changed_line_changes_one_word() -> None:
    before, after = stand_in(SYSTEM).split(), stand_in(SYSTEM.replace("Mon", "Tues")).split()
    assert len(before) == 3
    assert before[:2] == after[:2]
    assert before[2] != after[2]


def test_no_word_of_the_harness_survives_and_ours_does() -> None:
    """Texts of the user, of the model and of tools are what a sample is about."""
    tool = {"type": "function", "function": {"name": "read", "description": "Reads gently."}}
    other = {"type": "function", "function": {"name": "dance", "description": "Dances."}}
    history = (
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Mind the reminder."},
        {"role": "user", "content": '"Pack for the lake."'},
        {"role": "assistant", "content": "Packed.", "tool_calls": []},
    )
    got = with_stand_ins(asked(*history, tools=[tool, other]), ("the lake",))
    assert got["messages"][2:] == list(history[2:])
    assert [t["function"]["name"] for t in got["tools"]] == ["read"]
    words = {w.strip(".").lower() for w in (SYSTEM + " Mind reminder Reads gently").split()}
    told = [m["content"] for m in got["messages"][:2]]
    told.append(got["tools"][0]["function"]["description"])
    assert not words & set(" ".join(told).split())


def test_a_request_without_tools_becomes_our_own_request_for_a_title() -> None:
    got = with_stand_ins(asked({"role": "system", "content": "Name this chat."}), ("lake",))
    assert got["messages"] == [{"role": "system", "content": TITLE_REQUEST}]
