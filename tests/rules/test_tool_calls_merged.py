"""tool.calls_merged"""

import pytest
from rules.builders import after, back, call, findings, hop, raw_call, turn

from proxyaudit.core.message import ToolCall, assistant, tool, user

RULE = "tool.calls_merged"
TWO = assistant("", call("p-1", path="a"), call("p-2", path="c"))
JOINED = '{"path": "a"}{"path": "c"}'


@pytest.mark.parametrize(
    "one",
    [
        raw_call("p-1", "read_file", JOINED),
        raw_call("p-1", "read_file", '{"path":"a"} {"path":"c"}'),
        raw_call("p-1", "read_fileread_file", JOINED),
        raw_call("p-1", "read_fileread_file", ""),
    ],
)
def test_two_calls_in_one_are_found(one: ToolCall) -> None:
    left = turn(user("Read both."), reply=TWO, id="1")
    right = turn(user("Read both."), assistant("", one), tool("p-1", "error"), id="2")
    found = findings(RULE, after(left, right))
    assert [p.pointer for p in found[0].places] == ["/messages/1/tool_calls/0"]
    assert len(found[0].before) == 2


def test_two_calls_that_stay_two_are_lawful() -> None:
    left = turn(user("Read both."), reply=TWO)
    right = turn(user("Read both."), TWO, tool("p-1", "1"), tool("p-2", "2"))
    assert findings(RULE, after(left, right)) == []


def test_a_call_that_is_gone_is_not_folded() -> None:
    left = turn(user("Read both."), reply=TWO)
    right = turn(user("Read both."), assistant("", call("p-1", path="a")), tool("p-1", "1"))
    assert findings(RULE, after(left, right)) == []


def test_the_hop_is_looked_at_in_both_directions() -> None:
    one = assistant("", raw_call("p-1", "read_file", JOINED))
    assert findings(RULE, back(turn(reply=TWO, tap="upstream"), turn(reply=one)))
    rest = (tool("p-1", "1"), tool("p-2", "2"))
    left, right = turn(user("Go."), TWO, *rest), turn(user("Go."), one, *rest, tap="upstream")
    assert findings(RULE, hop(left, right))
