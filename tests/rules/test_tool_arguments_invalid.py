"""tool.arguments_invalid"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.builders import findings, pointers, raw_call, skips, turn

from proxyaudit.core.message import assistant, user
from proxyaudit.core.turn import Tool

RULE = "tool.arguments_invalid"


@pytest.mark.parametrize(
    "arguments",
    [
        '{"path": "n.txt", "text": "a long no',
        '{"path": "a"}{"path": "c"}',
        '["a"]',
        "null",
        "path=a",
        '{"a": 1} and so on',
    ],
)
def test_what_is_not_one_object_is_found(arguments: str) -> None:
    here = turn(user("Go."), reply=assistant("", raw_call("k-1", "write_file", arguments)))
    assert pointers(findings(RULE, here)) == ["/choices/0/message/tool_calls/0"]


@pytest.mark.parametrize("arguments", ["", "  ", "{}", '{"path": "a"}', ' {"n": 1.5}\n'])
def test_an_object_or_nothing_is_lawful(arguments: str) -> None:
    here = turn(user("Go."), reply=assistant("", raw_call("k-1", "write_file", arguments)))
    assert findings(RULE, here) == []


def test_a_reply_at_its_token_limit_is_another_matter() -> None:
    half = assistant("", raw_call("k-1", "write_file", '{"path": "n'))
    assert findings(RULE, turn(reply=half, finish="length")) == []


def test_a_reply_that_broke_off_is_skipped() -> None:
    half = assistant("", raw_call("k-1", "write_file", '{"path": "n'))
    assert skips(RULE, turn(reply=half, end="client_abort")) == ["the reply failed or broke off"]


def test_arguments_packed_twice_are_left_to_their_own_rule() -> None:
    twice = assistant("", raw_call("k-1", "write_file", '"{\\"path\\": \\"a\\"}"'))
    assert findings(RULE, turn(reply=twice)) == []


def test_a_tool_of_free_text_takes_any() -> None:
    patch = Tool("apply_patch", '{"format":{"type":"grammar"},"type":"custom"}')
    here = turn(reply=assistant("", raw_call("k-1", "apply_patch", "*** Begin")), tools=[patch])
    assert findings(RULE, here) == []


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()))
def test_every_json_object_is_lawful(value: dict[str, object]) -> None:
    """No object is ever reported, however it is written."""
    import json

    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        if "\\ud" in text.lower():
            continue
        here = turn(reply=assistant("", raw_call("k-1", "t", text)))
        assert findings(RULE, here) == []
