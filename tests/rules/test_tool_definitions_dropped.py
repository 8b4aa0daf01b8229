"""tool.definitions_dropped"""

from rules.builders import after, call, findings, hop, pointers, turn

from proxyaudit.core.message import assistant, tool, user
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
