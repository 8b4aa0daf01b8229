"""Two message sequences in rows."""

from hypothesis import given
from hypothesis import strategies as st
from turns import turn

from proxyaudit.compare.relation import forwarded
from proxyaudit.core.message import Message, ToolCall, assistant, system, tool, user
from proxyaudit.report.console import plain
from proxyaudit.report.diff_text import diff_text
from proxyaudit.report.sidebyside import Row, rows

_MESSAGES = st.lists(
    st.builds(
        lambda make, text: make(text),
        st.sampled_from([user, assistant, system]),
        st.sampled_from(["a", "b", "a longer text", "a longer word"]),
    ),
    max_size=7,
)


def _rows(left: list[Message], right: list[Message]) -> list[Row]:
    return rows(forwarded(turn(*left), turn(*right, tap="upstream")))


@given(_MESSAGES, _MESSAGES)
def test_every_message_stands_in_one_row(left: list[Message], right: list[Message]) -> None:
    """Nothing is shown twice, nothing is left out, and the right side keeps its order."""
    found = _rows(left, right)
    assert sorted(r.left for r in found if r.left is not None) == list(range(len(left)))
    assert [r.right for r in found if r.right is not None] == list(range(len(right)))


@given(_MESSAGES)
def test_equal_sides_are_equal_rows(messages: list[Message]) -> None:
    assert {row.kind for row in _rows(messages, messages)} <= {"equal"}


def test_what_is_gone_stands_where_it_was() -> None:
    first, second, third = user("one"), assistant("two"), user("three")
    assert _rows([first, second, third], [first, third]) == [
        Row("equal", 0, 0),
        Row("dropped", 1, None),
        Row("equal", 2, 1),
    ]


def test_other_reasoning_is_told_apart_from_other_words() -> None:
    """Whether reasoning has to come back is for the rules; the reader sees that it differs."""
    before, after = assistant("yes", reasoning="because"), assistant("yes")
    found = forwarded(turn(user("a"), before), turn(user("a"), after, tap="upstream"))
    assert [row.kind for row in rows(found)] == ["equal", "reasoning"]
    shown = plain(diff_text(found, {}))
    assert "same message, other reasoning" in shown
    assert "[-[reasoning] because" in shown


def test_the_spelling_of_arguments_is_no_difference() -> None:
    def called(arguments: str) -> list[Message]:
        return [user("a"), assistant("", ToolCall("c1", "read", arguments)), tool("c1", "text")]

    found = _rows(called('{"a":1,"b":2}'), called('{ "b": 2, "a": 1.0 }'))
    assert [row.kind for row in found] == ["equal", "equal", "equal"]


def test_a_changed_role_is_shown_with_both() -> None:
    found = forwarded(
        turn(system("rules"), user("a")), turn(user("rules"), user("a"), tap="upstream")
    )
    shown = plain(diff_text(found, {}))
    assert "role changed  system → user" in shown
