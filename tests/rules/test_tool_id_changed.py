"""tool.id_changed"""

from rules.builders import MESSAGES, after, back, call, findings, hop, pointers, turn

from proxyaudit.core.message import assistant, tool, user

RULE = "tool.id_changed"
LONG = "call_" + "ab12" * 17


def test_an_id_that_was_cut_on_its_way_back_is_found() -> None:
    left = turn(user("Read."), reply=assistant("", call(LONG, path="a")), id="1")
    right = turn(
        user("Read."), assistant("", call(LONG[:64], path="a")), tool(LONG, "Atlas"), id="2"
    )
    found = findings(RULE, after(left, right))
    assert [(p.exchange, p.pointer) for p in found[0].places] == [("2", "/messages/1/tool_calls/0")]
    assert found[0].before[0].side == "client.response"
    assert found[0].severity is None


def test_the_id_as_it_was_given_is_lawful() -> None:
    left = turn(user("Read."), reply=assistant("", call(LONG, path="a")))
    right = turn(user("Read."), assistant("", call(LONG, path="a")), tool(LONG, "Atlas"))
    assert findings(RULE, after(left, right)) == []


def test_parallel_calls_in_another_order_keep_their_ids() -> None:
    left = turn(user("Read."), reply=assistant("", call("a", path="a"), call("b", path="b")))
    right = turn(
        user("Read."),
        assistant("", call("b", path="b"), call("a", path="a")),
        tool("a", "1"),
        tool("b", "2"),
    )
    assert findings(RULE, after(left, right)) == []


def history(call_id: str, result_id: str):  # type: ignore[no-untyped-def]
    return user("Read."), assistant("", call(call_id, path="a")), tool(result_id, "Atlas")


def test_a_proxy_that_renames_ids_everywhere_is_found() -> None:
    found = findings(RULE, hop(turn(*history("k", "k")), turn(*history("x", "x"), tap="upstream")))
    assert [f.severity for f in found] == [None]
    assert "the proxy" in found[0].message


def test_between_dialects_a_clean_renaming_is_information() -> None:
    upstream = turn(*history("x", "x"), tap="upstream", dialect=MESSAGES)
    found = findings(RULE, hop(turn(*history("k", "k")), upstream))
    assert [f.severity for f in found] == ["info"]


def test_between_dialects_a_result_left_behind_is_an_error() -> None:
    upstream = turn(*history("x", "k"), tap="upstream", dialect=MESSAGES)
    found = findings(RULE, hop(turn(*history("k", "k")), upstream))
    assert [f.severity for f in found] == [None]


def test_a_result_alone_may_lose_its_id() -> None:
    found = findings(RULE, hop(turn(*history("k", "k")), turn(*history("k", "x"), tap="upstream")))
    assert pointers(found) == ["/messages/2"]


def test_an_id_changed_in_the_reply_is_found() -> None:
    upstream = turn(reply=assistant("", call("k")), tap="upstream")
    client = turn(reply=assistant("", call("toolu_1")))
    assert pointers(findings(RULE, back(upstream, client))) == ["/choices/0/message/tool_calls/0"]


def test_a_server_without_ids_leaves_them_to_the_client() -> None:
    left = turn(user("Read."), reply=assistant("", call("", path="a")))
    right = turn(user("Read."), assistant("", call("own-1", path="a")), tool("own-1", "Atlas"))
    assert findings(RULE, after(left, right)) == []
