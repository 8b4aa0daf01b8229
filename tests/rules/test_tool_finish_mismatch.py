"""tool.finish_mismatch"""

import pytest
from rules.builders import MESSAGES, RESPONSES, call, findings, pointers, skips, turn, wire

from proxyaudit.core.message import Message, Opaque, assistant

RULE = "tool.finish_mismatch"
CALLING = assistant("", call("k-1", path="a"))


def test_calls_that_end_with_stop_are_found() -> None:
    found = findings(RULE, turn(reply=CALLING, finish="stop"))
    assert pointers(found) == ["/choices/0/finish_reason"]
    assert found[0].severity is None


def test_tool_calls_without_a_call_are_found() -> None:
    assert findings(RULE, turn(reply="I will read it.", finish="tool_calls"))


@pytest.mark.parametrize("finish", ["tool_calls", "length", "content_filter"])
def test_calls_with_these_words_are_lawful(finish: str) -> None:
    assert findings(RULE, turn(reply=CALLING, finish=finish)) == []


def test_a_demanded_tool_is_answered_with_stop() -> None:
    here = turn(reply=CALLING, finish="stop", settings={"tool_choice": {"name": "read_file"}})
    assert findings(RULE, here) == []
    some = turn(reply=CALLING, finish="stop", settings={"tool_choice": "required"})
    assert [f.severity for f in findings(RULE, some)] == ["info"]


def test_a_call_that_the_server_runs_itself_counts() -> None:
    ran = Message("assistant", (Opaque("server_tool_use", "{}"),))
    assert findings(RULE, turn(reply=ran, finish="tool_calls")) == []


def test_the_words_of_messages_are_known() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Read."}]}
    block = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
    bad = {"role": "assistant", "content": [block], "stop_reason": "end_turn"}
    assert pointers(findings(RULE, wire(body, bad, dialect=MESSAGES))) == ["/stop_reason"]
    good = {**bad, "stop_reason": "tool_use"}
    assert findings(RULE, wire(body, good, dialect=MESSAGES)) == []


def test_responses_has_no_finish_reason() -> None:
    here = turn(reply=CALLING, finish="stop", dialect=RESPONSES)
    assert skips(RULE, here) == ["this dialect has no finish reason"]
