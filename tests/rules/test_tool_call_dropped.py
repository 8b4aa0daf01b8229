"""tool.call_dropped"""

from rules.builders import after, back, call, findings, hop, pointers, raw_call, turn

from proxyaudit.core.message import assistant, tool, user

RULE = "tool.call_dropped"
ONE, TWO = call("p-1", path="a"), call("p-2", path="c")
BOTH = assistant("", ONE, TWO)
ASK = user("Read both.")


def test_a_call_lost_on_the_way_back_is_found() -> None:
    found = findings(
        RULE, back(turn(ASK, reply=BOTH, tap="upstream"), turn(ASK, reply=assistant("", ONE)))
    )
    assert [f.severity for f in found] == [None]
    assert [p.side for p in found[0].places] == ["client.response"]
    assert [p.pointer for p in found[0].before] == ["/choices/0/message/tool_calls/1"]


def test_all_calls_lost_beside_their_text_are_found() -> None:
    upstream = turn(ASK, reply=assistant("Let me look.", ONE, TWO), tap="upstream")
    found = findings(RULE, back(upstream, turn(ASK, reply="Let me look.")))
    assert found[0].evidence["ids"] == ["p-1", "p-2"]


def test_calls_lost_from_a_history_on_the_hop_are_found() -> None:
    left = turn(ASK, BOTH, tool("p-1", "1"))
    right = turn(ASK, assistant("", ONE), tool("p-1", "1"), tap="upstream")
    assert pointers(findings(RULE, hop(left, right))) == ["/messages/1"]


def test_between_turns_it_is_a_warning_or_told_at_info() -> None:
    """A harness may have dropped a call that the user stopped."""
    left = turn(ASK, reply=assistant("I look.", ONE, TWO))
    some = turn(ASK, assistant("I look.", ONE), tool("p-1", "1"), user("Well?"))
    none = turn(ASK, assistant("I look."), user("Well?"))
    assert [f.severity for f in findings(RULE, after(left, some))] == ["warn"]
    assert [f.severity for f in findings(RULE, after(left, none))] == ["info"]


def test_calls_that_all_arrive_are_lawful() -> None:
    renamed = assistant("", call("x-1", path="a"), call("x-2", path="c"))
    assert (
        findings(RULE, back(turn(ASK, reply=BOTH, tap="upstream"), turn(ASK, reply=renamed))) == []
    )


def test_near_miss_calls_folded_into_one_have_a_rule_of_their_own() -> None:
    joined = assistant("", raw_call("p-1", "read_file", '{"path": "a"}{"path": "c"}'))
    assert (
        findings(RULE, back(turn(ASK, reply=BOTH, tap="upstream"), turn(ASK, reply=joined))) == []
    )


def test_near_miss_a_call_flattened_to_text_has_a_rule_of_its_own() -> None:
    text = '<tool_call>{"name": "read_file", "arguments": {}}</tool_call>'
    upstream = turn(ASK, reply=assistant("", ONE), tap="upstream")
    assert findings(RULE, back(upstream, turn(ASK, reply=text))) == []


def test_near_miss_a_message_for_each_call() -> None:
    left = turn(ASK, BOTH, tool("p-1", "1"), tool("p-2", "2"))
    split = [assistant("", ONE), tool("p-1", "1"), assistant("", TWO), tool("p-2", "2")]
    assert findings(RULE, hop(left, turn(ASK, *split, tap="upstream"))) == []


def test_near_miss_a_result_left_behind_or_lost_with_it_tells_enough() -> None:
    left = turn(ASK, BOTH, tool("p-1", "1"), tool("p-2", "2"))
    orphan = turn(ASK, assistant("", ONE), tool("p-1", "1"), tool("p-2", "2"), tap="upstream")
    gone = turn(ASK, assistant("", ONE), tool("p-1", "1"), tap="upstream")
    assert findings(RULE, hop(left, orphan)) == []
    assert findings(RULE, hop(left, gone)) == []


def test_near_miss_a_reply_that_broke_off() -> None:
    upstream = turn(ASK, reply=BOTH, tap="upstream")
    broken = turn(ASK, reply=assistant("", ONE), end="client_abort")
    assert findings(RULE, back(upstream, broken)) == []


def test_near_miss_a_tool_that_the_proxy_brought_along() -> None:
    upstream = turn(ASK, reply=assistant("", call("w-1", "web_search")), tap="upstream")
    client = turn(ASK, reply="The weir is open.", tools=["read_file"])
    assert [f.severity for f in findings(RULE, back(upstream, client))] == ["info"]
