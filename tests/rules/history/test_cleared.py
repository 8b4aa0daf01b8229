"""tool.result_cleared"""

import pytest
from comparing import across_hop, across_turns
from inline_snapshot import snapshot
from turns import turn

from proxyaudit.core.message import Message, ToolCall, assistant, tool, user

ASK = user("list the shed")
CALL = assistant("", ToolCall("1", "read", "{}"))
LIST = "three rakes\none spade\ntwo watering cans, both green\n" * 20
NAME = "tool.result_cleared"


def seen(result: Message) -> list[str]:
    found = across_turns(
        NAME,
        turn(ASK, CALL, tool("1", LIST), reply=assistant("six")),
        turn(ASK, CALL, result, assistant("six"), user("more")),
    )
    return [f.message for f in found]


@pytest.mark.parametrize(
    "left",
    ["", "[Old tool result content cleared]", LIST[:200], LIST[:90] + "… (truncated)", LIST[-300:]],
)
def test_a_placeholder_or_a_piece_is_reported(left: str) -> None:
    assert len(seen(tool("1", left))) == 1


def test_the_message_says_how_much_is_gone() -> None:
    assert seen(tool("1", "[cleared]")) == snapshot(
        [
            "the harness replaced 1,040 characters of a tool result “three rakes one spade two watering cans, both gr…” by 9 since the last turn"
        ]
    )


def test_on_the_hop() -> None:
    client = turn(ASK, CALL, tool("1", LIST))
    upstream = turn(ASK, CALL, tool("1", "[omitted]"), tap="upstream")
    assert len(across_hop(NAME, client, upstream)) == 1


def test_the_same_result_is_none() -> None:
    assert seen(tool("1", LIST)) == []


def test_near_miss_a_result_of_another_text_is_rewritten_not_cleared() -> None:
    assert seen(tool("1", "item,count\nrake,3\nspade,1\ncan,2\n" * 8)) == []


def test_a_result_of_which_dots_are_left() -> None:
    assert seen(tool("1", "..."))
    assert seen(tool("1", "[…]"))
