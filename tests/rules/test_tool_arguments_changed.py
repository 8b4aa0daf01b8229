"""tool.arguments_changed"""

from rules.builders import after, back, call, findings, hop, pointers, raw_call, turn

from proxyaudit.core.message import ToolCall, assistant, tool, user
from proxyaudit.core.turn import Tool

RULE = "tool.arguments_changed"
GIVEN = raw_call("k", "write_file", '{"path":"x","text":"é","n":1}')


def sent_back(given: ToolCall, later: ToolCall, tools: tuple[str, ...] = ()):  # type: ignore[no-untyped-def]
    left = turn(user("Go."), reply=assistant("", given), tools=tools)
    right = turn(user("Go."), assistant("", later), tool("k", "ok"), tools=tools)
    return findings(RULE, after(left, right))


def test_another_value_is_found() -> None:
    found = sent_back(GIVEN, raw_call("k", "write_file", "{}"))
    assert pointers(found) == ["/messages/1/tool_calls/0"]
    assert found[0].severity is None


def test_spelling_is_lawful() -> None:
    """Key order, spaces, escapes and 1.0 for 1 do not count."""
    later = '{"n": 1.0, "text": "\\u00e9", "path": "x"}'
    assert sent_back(GIVEN, raw_call("k", "write_file", later)) == []


def test_nothing_and_an_empty_object_are_one() -> None:
    assert sent_back(raw_call("k", "t", ""), raw_call("k", "t", "{}")) == []


def test_a_call_that_could_not_be_run_is_replaced_lawfully() -> None:
    torn = sent_back(raw_call("k", "t", '{"a": '), raw_call("k", "t", "{}"))
    assert [f.severity for f in torn] == ["info"]
    unknown = sent_back(call("k", "nope", a=1), call("k", "invalid", tool="nope"), ("read_file",))
    assert [f.severity for f in unknown] == ["info"]


def test_a_proxy_is_not_excused() -> None:
    def side(value: str):  # type: ignore[no-untyped-def]
        return user("Go."), assistant("", raw_call("k", "t", value)), tool("k", "ok")

    found = findings(RULE, hop(turn(*side('{"a": ')), turn(*side("{}"), tap="upstream")))
    assert [f.severity for f in found] == [None]


def test_arguments_changed_in_the_reply_are_found() -> None:
    upstream = turn(reply=assistant("", call("k", path="a")), tap="upstream")
    assert findings(RULE, back(upstream, turn(reply=assistant("", call("k", path="b")))))
    assert findings(RULE, back(upstream, turn(reply=assistant("", call("k", path="a"))))) == []


def test_joined_calls_and_arguments_packed_twice_have_rules_of_their_own() -> None:
    two = assistant("", call("a", path="a"), call("b", path="c"))
    one = assistant("", raw_call("a", "read_file", '{"path": "a"}{"path": "c"}'))
    left = turn(user("Go."), reply=two)
    assert findings(RULE, after(left, turn(user("Go."), one, tool("a", "?")))) == []
    twice = raw_call("k", "write_file", '"{\\"a\\": 1}"')
    assert sent_back(raw_call("k", "write_file", '{"a": 1}'), twice) == []


def test_defaults_of_the_schema_that_a_harness_fills_in_are_lawful() -> None:
    schema = '{"properties": {"path": {}, "all": {"default": false}}}'
    edit = Tool("edit", f'{{"parameters": {schema}}}')
    given = call("k", "edit", path="a")
    for later, severity in (
        (call("k", "edit", path="a", all=False), "info"),
        (call("k", "edit", path="a", all=True), None),
        (call("k", "edit", path="b", all=False), None),
        (call("k", "edit", all=False), None),
        (call("k", "edit", path="a", other=False), None),
    ):
        left = turn(user("Go."), reply=assistant("", given), tools=[edit])
        right = turn(user("Go."), assistant("", later), tool("k", "ok"), tools=[edit])
        assert [f.severity for f in findings(RULE, after(left, right))] == [severity]
