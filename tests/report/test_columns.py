"""Two columns: nothing is lost, nothing escapes, and it fits."""

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from rich.text import Text
from turns import turn

from proxyaudit.compare.relation import forwarded
from proxyaudit.core.message import Message, assistant, system, user
from proxyaudit.report.columns import NARROWEST, columns
from proxyaudit.report.console import plain

MESSAGES = st.lists(
    st.builds(
        lambda make, text: make(text),
        st.sampled_from([user, assistant, system]),
        st.text(min_size=1, max_size=30) | st.sampled_from(["a longer text", "a longer word"]),
    ),
    max_size=6,
)


def shown(left: list[Message], right: list[Message], *, whole: bool = False) -> str:
    found = forwarded(turn(*left), turn(*right, tap="upstream"))
    return plain(columns(found, Text("title"), whole=whole), NARROWEST)


def test_what_changed_is_marked_in_both_columns() -> None:
    left = [system("Be kind."), user("The quick fox"), assistant("Yes."), user("Go on.")]
    right = [system("Be kind."), user("The slow old fox"), user("Go on."), user("Now.")]
    assert shown(left, right) == snapshot("""\
title

=            │ 0  system                                 │ 0  system
             │ Be kind.                                  │ Be kind.
~  rewritten │ 1  user                                   │ 1  user
             │ The [-quick-] fox                         │ The {+slow old+} fox
-  gone      │ 2  assistant                              │
             │ Yes.                                      │
=            │ 3  user                                   │ 2  user
             │ Go on.                                    │ Go on.
+  put in    │                                           │ 3  user
             │                                           │ Now.
""")


def test_a_run_of_equal_messages_is_folded_unless_all_is_wanted() -> None:
    same = [user("one"), assistant("two"), user("three")]
    assert shown(same, [*same, assistant("four")]) == snapshot("""\
title

=         │ 0–2  3 equal messages                      │ 0–2  3 equal messages
+  put in │                                            │ 3  assistant
          │                                            │ four
""")
    assert "three" in shown(same, same, whole=True)


@given(MESSAGES, MESSAGES, st.booleans())
def test_any_messages_fit_and_harm_no_terminal(
    left: list[Message], right: list[Message], whole: bool
) -> None:
    text = shown(left, right, whole=whole)
    assert "\x1b" not in text
    assert all(len(line) <= NARROWEST for line in text.splitlines())
