"""content.double_escaped"""

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.builders import MESSAGES, after, back, findings, hop, pointers, turn

from proxyaudit.core.message import assistant, system, tool, user
from proxyaudit.rules.content.escapes import escaped_again

RULE = "content.double_escaped"
LINE = 'Keep this line:\n"Æbelø" \\ end'
ESCAPED = json.dumps(LINE)[1:-1]
FORMS = [
    ESCAPED,
    json.dumps(LINE, ensure_ascii=False)[1:-1],
    json.dumps(LINE),
    LINE.replace("\n", "\\n"),
    html.escape(LINE),
    html.escape(LINE, quote=False).replace('"', "&quot;"),
]


@pytest.mark.parametrize("form", FORMS)
def test_on_the_hop(form: str) -> None:
    found = findings(RULE, hop(turn(user(LINE)), turn(user(form), tap="upstream")))
    assert pointers(found) == ["/messages/0/content"]
    assert findings("message.rewritten", hop(turn(user(LINE)), turn(user(form)))) == []


def test_a_reply_on_its_way_back() -> None:
    comparison = back(
        turn(user("Go."), reply=LINE, tap="upstream"), turn(user("Go."), reply=FORMS[0])
    )
    assert pointers(findings(RULE, comparison)) == ["/choices/0/message/content"]
    assert findings("stream.delta_changed", comparison) == []


def test_a_reply_that_comes_back_in_the_history() -> None:
    first = turn(user("Go."), reply=LINE, dialect=MESSAGES)
    second = turn(user("Go."), assistant(FORMS[0]), user("On."), id="2", dialect=MESSAGES)
    found = findings(RULE, after(first, second))
    assert pointers(found) == ["/messages/1/content"]
    assert found[0].before[0].side == "client.response"


def test_a_tool_result_and_reasoning() -> None:
    left = turn(user("Go."), assistant("So.", reasoning=LINE), tool("a", "x\ny\nz"))
    right = turn(user("Go."), assistant("So.", reasoning=ESCAPED), tool("a", "x\\ny\\nz"))
    assert len(findings(RULE, hop(left, right))) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LINE, LINE),
        (LINE, LINE + "\\n"),
        (LINE, "Keep that line"),
        ("C:\\new", "C:/new"),
        ("a & b", "a and b"),
        ("say \\n", "say \n"),
        ("plain", '"plain"s'),
        ("", "\\n"),
    ],
)
def test_near_miss_other_changes(old: str, new: str) -> None:
    assert findings(RULE, hop(turn(system("S."), user(old)), turn(system("S."), user(new)))) == []


@given(st.text())
def test_any_text_escaped_as_json_is_known(text: str) -> None:
    form = json.dumps(text)[1:-1]
    assert (escaped_again(text, form) == "JSON") == (form != text)


@given(st.text(), st.text())
def test_never_a_traceback_and_never_the_same_text(old: str, new: str) -> None:
    escaped_again(old, new)
    assert escaped_again(old, old) is None
