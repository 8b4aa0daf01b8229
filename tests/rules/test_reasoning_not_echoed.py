"""reasoning.not_echoed"""

import pytest
from rules.builders import after, call, findings, pointers, skips, turn

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import assistant, tool, user

RULE = "reasoning.not_echoed"
LOOK = call("t-9", "get_tide")
REFUSAL = "The reasoning_content in the thinking mode must be passed back to the API."


def loop(later: str = "", **right: object) -> Comparison:
    """A reply with reasoning and a call, and the next request with `later` as its reasoning."""
    left = turn(user("Tide?"), reply=assistant("", LOOK, reasoning="Look it up."), id="1")
    back = assistant("", LOOK, reasoning=later)
    return after(left, turn(user("Tide?"), back, tool("t-9", "2.4 m"), id="2", **right))  # type: ignore[arg-type]


def chat() -> Comparison:
    """A final answer with reasoning, and a next request without it."""
    left = turn(user("Prime?"), reply=assistant("No.", reasoning="7 * 13."))
    return after(left, turn(user("Prime?"), assistant("No."), user("And 97?")))


def test_reasoning_beside_a_call_that_stays_away_is_found() -> None:
    found = findings(RULE, loop(), reasoning_echo="tool_turns")
    assert (pointers(found), found[0].severity) == (["/messages/1"], None)
    assert found[0].before[0].pointer == "/choices/0/message/reasoning_content"


def test_reasoning_that_comes_back_is_lawful() -> None:
    assert findings(RULE, loop("Look it up."), reasoning_echo="tool_turns") == []


def test_blank_reasoning_is_missing() -> None:
    assert findings(RULE, loop("  "), reasoning_echo="tool_turns")


def test_a_family_that_forbids_it_is_left_alone() -> None:
    assert findings(RULE, chat(), reasoning_echo="forbidden") == []
    assert findings(RULE, loop(), reasoning_echo="forbidden") == []


def test_a_final_answer_needs_it_only_if_the_family_always_does() -> None:
    assert findings(RULE, chat(), reasoning_echo="tool_turns") == []
    assert [f.severity for f in findings(RULE, chat(), reasoning_echo="always")] == [None]


def test_a_refusal_that_names_it_is_enough() -> None:
    refused = loop(status=400, error=REFUSAL, reply=None)
    assert [f.severity for f in findings(RULE, refused)] == [None]


@pytest.mark.parametrize(("status", "error"), [(400, "too many tokens"), (200, None)])
def test_without_that_it_is_information(status: int, error: str | None) -> None:
    here = loop(status=status, error=error, reply=None if error else "Yes.")
    assert [f.severity for f in findings(RULE, here)] == ["info"]


def test_a_history_kept_by_the_server_is_skipped() -> None:
    here = loop(previous_id="r-1")
    assert skips(RULE, here, reasoning_echo="always") == ["the history is kept by the server"]


def test_reasoning_lost_a_turn_later_is_found() -> None:
    full = (user("Tide?"), assistant("", LOOK, reasoning="Look."), tool("t-9", "2.4 m"))
    bare = (user("Tide?"), assistant("", LOOK), tool("t-9", "2.4 m"))
    later = after(turn(*full, reply="Yes."), turn(*bare, assistant("Yes."), user("Thanks.")))
    assert pointers(findings(RULE, later, reasoning_echo="tool_turns")) == ["/messages/1"]


def test_another_model_does_not_need_the_thoughts_of_the_first() -> None:
    here = loop(model="other")
    assert [f.severity for f in findings(RULE, here, reasoning_echo="always")] == ["info"]
