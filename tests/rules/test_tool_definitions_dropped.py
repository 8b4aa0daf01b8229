"""tool.definitions_dropped"""

import pytest
from rules.builders import after, call, findings, hop, pointers, turn

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import Message, assistant, system, tool, user
from proxyaudit.core.turn import Tool

RULE = "tool.definitions_dropped"
READ, WRITE, LIST = "read_file", "write_file", "list_dir"


def test_tools_that_do_not_arrive_are_found() -> None:
    found = findings(RULE, hop(turn(tools=[READ, WRITE]), turn(tap="upstream", id="u")))
    assert [(p.exchange, p.side, p.pointer) for p in found[0].places] == [
        ("u", "upstream.request", "/tools")
    ]
    assert found[0].evidence["missing"] == [READ, WRITE]


def test_one_tool_that_does_not_arrive_is_found() -> None:
    found = findings(RULE, hop(turn(tools=[READ, WRITE]), turn(tools=[WRITE], tap="upstream")))
    assert found[0].evidence["missing"] == [READ]


def test_the_same_tools_in_another_order_are_lawful() -> None:
    left, right = turn(tools=[READ, WRITE]), turn(tools=[WRITE, READ, LIST], tap="upstream")
    assert findings(RULE, hop(left, right)) == []


def test_a_renamed_tool_is_not_missing() -> None:
    long, short = Tool("mcp__a__read", '{"description":"d"}'), Tool("a_read", '{"description":"d"}')
    assert findings(RULE, hop(turn(tools=[long]), turn(tools=[short], tap="upstream"))) == []


def test_all_tools_gone_between_turns_is_an_error() -> None:
    left = turn(user("Go."), reply="Done.", tools=[READ, WRITE])
    right = turn(user("Go."), assistant("Done."), user("More."))
    found = findings(RULE, after(left, right))
    assert (pointers(found), found[0].severity) == (["/tools"], None)


def test_a_harness_may_take_a_tool_away() -> None:
    left = turn(user("Go."), reply="Done.", tools=[READ, WRITE, LIST])
    right = turn(user("Go."), assistant("Done."), user("More."), tools=[READ, LIST])
    assert [f.severity for f in findings(RULE, after(left, right))] == ["info"]


def test_a_tool_that_the_history_uses_is_missed() -> None:
    history = (user("Go."), assistant("", call("k", WRITE)), tool("k", "ok"))
    left = turn(*history, reply="Done.", tools=[READ, WRITE, LIST])
    right = turn(*history, assistant("Done."), user("More."), tools=[READ, LIST])
    assert [f.severity for f in findings(RULE, after(left, right))] == ["warn"]


def without_tools(*newest: Message, reply: Message | str = "Two rakes are left.") -> Comparison:
    """Turns of which the second has lost all tools and ends in `newest`."""
    history = (user("Go."), assistant("", call("k", READ)), tool("k", "ok"))
    left = turn(user("Go."), reply=history[1], tools=[READ, WRITE])
    return after(left, turn(*history, *newest, reply=reply))


@pytest.mark.parametrize(
    "newest",
    [
        system("The maximum number of steps is reached. Answer in text."),
        user("You ran out of steps: sum up what is done."),
        user("Step limit reached. Say what is left."),
        assistant("All tools are out of reach now. Tools are disabled until the user writes."),
        user("Now answer without using any tools."),
        user("Do not call any more tools, sum it up."),
    ],
)
def test_a_last_answer_needs_no_tools(newest: Message) -> None:
    assert [f.severity for f in findings(RULE, without_tools(newest))] == ["info"]


@pytest.mark.parametrize(
    "newest",
    [
        (),
        (user("And now write the file."),),
        (user("Which tools have we left?"),),
        (user("Show all the steps."),),
    ],
)
def test_near_miss_nobody_said_why_all_tools_are_gone(newest: tuple[Message, ...]) -> None:
    assert [f.severity for f in findings(RULE, without_tools(*newest))] == [None]


def test_near_miss_the_model_wanted_a_tool() -> None:
    both = without_tools(user("Step limit reached."), reply=assistant("", call("z", READ)))
    assert [f.severity for f in findings(RULE, both)] == [None]


def test_near_miss_a_result_that_tells_of_a_limit_is_no_instruction() -> None:
    history = (user("Go."), assistant("", call("k", READ)), tool("k", "Step limit reached."))
    left = turn(user("Go."), reply=history[1], tools=[READ])
    assert [f.severity for f in findings(RULE, after(left, turn(*history)))] == [None]


def test_near_miss_a_proxy_has_no_last_answer() -> None:
    asked = user("Answer without using any tools.")
    found = findings(RULE, hop(turn(asked, tools=[READ]), turn(asked, tap="upstream", id="u")))
    assert [f.severity for f in found] == [None]


def test_another_model_may_be_offered_other_tools() -> None:
    left = turn(user("Go."), reply=assistant("", call("k", WRITE)), tools=[READ, WRITE])
    told = (user("Go."), assistant("", call("k", WRITE)), tool("k", "ok"))
    same, other = (turn(*told, tools=[READ, LIST], model=name) for name in ("m", "n"))
    assert [f.severity for f in findings(RULE, after(left, same))] == ["warn"]
    assert [f.severity for f in findings(RULE, after(left, other))] == ["info"]
    none = turn(*told, model="n")
    assert [f.severity for f in findings(RULE, after(left, none))] == [None]
