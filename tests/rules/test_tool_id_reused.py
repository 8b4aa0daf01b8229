"""tool.id_reused"""

from rules.builders import call, conversation, findings, pointers, turn

from proxyaudit.core.message import assistant, tool, user

RULE = "tool.id_reused"
FIRST = (user("Read."), assistant("", call("f:0", path="a")), tool("f:0", "Atlas"))


def test_two_calls_with_one_id_in_a_history_are_found_and_nobody_is_named() -> None:
    here = turn(*FIRST, assistant("", call("f:0", path="c")), tool("f:0", "Codex"))
    found = findings(RULE, conversation(here))
    assert pointers(found) == ["/messages/3/tool_calls/0"]
    assert found[0].before[0].pointer == "/messages/1/tool_calls/0"
    assert found[0].suspect == "unknown"


def test_a_reply_that_gives_an_id_anew_is_found_once() -> None:
    again = assistant("", call("f:0", path="c"))
    one = turn(*FIRST, reply=again, id="1")
    two = turn(*FIRST, again, tool("f:0", "Codex"), id="2")
    found = findings(RULE, conversation(one, two))
    assert [(p.exchange, p.side) for f in found for p in f.places] == [("1", "client.response")]
    assert found[0].suspect is None


def test_other_ids_are_lawful() -> None:
    here = turn(*FIRST, assistant("", call("f:1", path="c")), tool("f:1", "Codex"))
    assert findings(RULE, conversation(here)) == []


def test_the_same_call_again_is_no_other_call() -> None:
    here = turn(*FIRST, assistant("", call("f:0", path="a")), tool("f:0", "Atlas"))
    assert findings(RULE, conversation(here)) == []


def test_calls_without_id_are_not_compared() -> None:
    here = turn(assistant("", call("", path="a"), call("", path="b")))
    assert findings(RULE, conversation(here)) == []


def test_a_history_that_the_harness_changed_is_no_reuse() -> None:
    one = turn(user("Read."), reply=assistant("", call("k", path="a")), id="1")
    two = turn(user("Read."), assistant("", call("k")), tool("k", "?"), id="2")
    assert findings(RULE, conversation(one, two)) == []
