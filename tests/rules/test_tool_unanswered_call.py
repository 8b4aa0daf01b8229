"""tool.unanswered_call"""

from hypothesis import given
from hypothesis import strategies as st
from rules.builders import MESSAGES, RESPONSES, call, findings, pointers, turn

from proxyaudit.core.message import assistant, system, tool, user

RULE = "tool.unanswered_call"
TWO = assistant("", call("k-1", path="a"), call("k-2", path="b"))


def test_one_of_two_parallel_calls_without_result_is_found_at_the_end() -> None:
    here = turn(user("Read both."), TWO, tool("k-1", "Atlas"))
    assert pointers(findings(RULE, here)) == ["/messages/1/tool_calls/1"]


def test_a_call_before_a_user_message_is_found() -> None:
    found = findings(RULE, turn(assistant("", call("k-1")), user("Go on.")))
    assert "has no result" in found[0].message


def test_a_call_at_the_very_end_is_found() -> None:
    assert findings(RULE, turn(user("Read."), assistant("", call("k-1"))))


def test_results_in_another_order_are_lawful() -> None:
    here = turn(user("Read both."), TWO, tool("k-2", "b"), tool("k-1", "a"), user("Thanks."))
    assert findings(RULE, here) == []


def test_a_system_note_between_call_and_result_is_lawful() -> None:
    here = turn(assistant("", call("k-1")), system("Be brief."), tool("k-1", "a"))
    assert findings(RULE, here) == []


def test_a_late_result_is_a_fault_in_chat_and_lawful_in_responses() -> None:
    late = (assistant("", call("k-1")), user("Hurry."), tool("k-1", "a"))
    found = findings(RULE, turn(*late))
    assert "only after another message" in found[0].message
    assert findings(RULE, turn(*late, dialect=RESPONSES)) == []


def test_text_before_the_result_is_lawful_in_messages() -> None:
    here = (assistant("", call("k-1")), user("By the way."), tool("k-1", "a"))
    assert findings(RULE, turn(*here, dialect=MESSAGES)) == []


def test_an_assistant_message_sent_in_pieces_is_one_in_messages() -> None:
    pieces = (assistant("", call("k-1")), assistant("Wait."), tool("k-1", "a"))
    assert findings(RULE, turn(*pieces, dialect=MESSAGES)) == []
    assert findings(RULE, turn(*pieces))


@given(st.integers(1, 6).flatmap(lambda n: st.permutations([f"k-{i}" for i in range(n)])))
def test_answered_calls_are_never_reported(order: list[str]) -> None:
    """Whatever the order of results, a step whose calls are all answered is clean."""
    calls = assistant("", *(call(f"k-{i}") for i in range(len(order))))
    assert findings(RULE, turn(user("Go."), calls, *(tool(i, "ok") for i in order))) == []
