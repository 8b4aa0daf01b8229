"""tool.arguments_double_encoded"""

import json

import pytest
from rules.builders import (
    MESSAGES,
    after,
    back,
    call,
    findings,
    hop,
    pointers,
    raw_call,
    turn,
    wire,
)

from proxyaudit.core.message import assistant, tool, user

RULE = "tool.arguments_double_encoded"
ONCE = json.dumps({"path": "cat/a.txt"})
TWICE = json.dumps(ONCE)


@pytest.mark.parametrize("arguments", [TWICE, json.dumps(TWICE), f" {TWICE}\n"])
def test_a_string_that_holds_an_object_is_found(arguments: str) -> None:
    here = turn(reply=assistant("", raw_call("k-7", "read_file", arguments)))
    assert pointers(findings(RULE, here)) == ["/choices/0/message/tool_calls/0"]


@pytest.mark.parametrize("arguments", [ONCE, '"plain text"', "{}", "", '{"text": "{}"}'])
def test_other_arguments_are_not(arguments: str) -> None:
    """An object that holds JSON as text is lawful: such files are written all the time."""
    here = turn(reply=assistant("", raw_call("k-7", "read_file", arguments)))
    assert findings(RULE, here) == []


def test_an_input_that_is_a_string_in_messages_is_found() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "read_file"}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Read."}]}

    def reply(given: object) -> dict[str, object]:
        content = [{"type": "text", "text": "Yes."}, {**block, "input": given}]
        return {"role": "assistant", "content": content, "stop_reason": "tool_use"}

    good = wire(body, reply({"path": "a"}), dialect=MESSAGES)
    bad = wire(body, reply('{"path": "a"}'), dialect=MESSAGES)
    assert findings(RULE, good) == []
    assert pointers(findings(RULE, bad)) == ["/content/1"]


def test_the_proxy_is_named_for_a_reply_that_it_packed() -> None:
    upstream = turn(reply=assistant("", raw_call("k-7", "t", ONCE)), tap="upstream", id="u")
    client = turn(reply=assistant("", raw_call("k-7", "t", TWICE)), id="c")
    found = findings(RULE, back(upstream, client))
    assert [(p.exchange, p.side) for p in found[0].places] == [("c", "client.response")]
    assert found[0].before[0].exchange == "u"


def test_the_proxy_is_named_for_a_history_that_it_packed() -> None:
    def side(arguments: str) -> list[object]:
        return [user("Go."), assistant("", raw_call("k", "t", arguments)), tool("k", "ok")]

    found = findings(RULE, hop(turn(*side(ONCE)), turn(*side(TWICE), tap="upstream")))  # type: ignore[arg-type]
    assert pointers(found) == ["/messages/1/tool_calls/0"]


def test_arguments_that_were_packed_already_are_nobodys_change() -> None:
    reply = assistant("", raw_call("k", "t", TWICE))
    left = turn(user("Go."), reply=reply)
    right = turn(user("Go."), reply, tool("k", "ok"))
    assert findings(RULE, after(left, right)) == []


def test_spelling_is_no_packing() -> None:
    left = turn(reply=assistant("", raw_call("k", "t", '{"a": "é"}')), tap="upstream")
    right = turn(reply=assistant("", raw_call("k", "t", '{"a":"\\u00e9"}')))
    assert findings(RULE, back(left, right)) == []
    assert call("k", a=1).arguments == '{"a": 1}'
