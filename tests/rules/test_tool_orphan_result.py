"""tool.orphan_result"""

from rules.builders import call, findings, pointers, skips, turn

from proxyaudit.core.message import Message, Opaque, assistant, system, tool, user

RULE = "tool.orphan_result"


def test_a_result_whose_call_was_trimmed_away_is_found() -> None:
    here = turn(system("S"), tool("k-1", "Atlas"), assistant("One title."), user("Sort them."))
    found = findings(RULE, here)
    assert pointers(found) == ["/messages/1"]
    assert "k-1" in found[0].message


def test_a_result_after_its_call_is_lawful() -> None:
    here = turn(user("Read."), assistant("", call("k-1", path="a")), tool("k-1", "Atlas"))
    assert findings(RULE, here) == []


def test_a_result_before_its_call_is_an_orphan() -> None:
    here = turn(user("Read."), tool("k-1", "Atlas"), assistant("", call("k-1")))
    assert pointers(findings(RULE, here)) == ["/messages/1"]


def test_a_result_far_behind_its_call_is_none() -> None:
    here = turn(
        assistant("", call("k-1")), tool("k-1", "a"), user("Go on."), tool("k-1", "a again")
    )
    assert findings(RULE, here) == []


def test_a_call_may_be_in_the_history_that_the_server_keeps() -> None:
    here = turn(tool("k-1", "Atlas"), previous_id="r-1")
    assert findings(RULE, here) == []
    assert skips(RULE, here) == ["a part of the history is kept by the server"]


def test_a_call_may_be_behind_a_reference() -> None:
    reference = Message("", (Opaque("item_reference", "{}"),))
    assert skips(RULE, turn(reference, tool("k-1", "Atlas")))
