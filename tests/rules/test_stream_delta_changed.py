"""stream.delta_changed"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.builders import MESSAGES, back, call, findings, pointers, said, skips, streamed, turn

from proxyaudit.core.message import Message, Text, assistant
from proxyaudit.core.turn import Turn

RULE = "stream.delta_changed"


def both(upstream: Turn | str, client: Turn | str):  # type: ignore[no-untyped-def]
    left = turn(reply=upstream, tap="upstream") if isinstance(upstream, str) else upstream
    right = turn(reply=client) if isinstance(client, str) else client
    return back(left, right)


def test_a_piece_that_comes_twice_is_found() -> None:
    upstream = streamed(said("The weir "), said("is open "), said("today."), tap="upstream")
    client = streamed(said("The weir "), said("is open "), said("is open "), said("today."))
    found = findings(RULE, back(upstream, client))
    assert pointers(found) == ["/stream"]
    assert found[0].evidence["after"] == "The weir is open is open today."


def test_a_lost_first_piece_is_found() -> None:
    assert findings(RULE, both("The weir is open.", " weir is open."))


def test_a_plain_reply_counts_too() -> None:
    assert findings(RULE, both("Noted: two cans.", "Noted: three cans."))


def test_white_space_at_the_ends_is_information() -> None:
    assert [f.severity for f in findings(RULE, both("\n\nYes.", "Yes."))] == ["info"]


def test_torn_letters_have_a_rule_of_their_own() -> None:
    assert findings(RULE, both("Zürich — Größe", "Z��rich — Gr��ße")) == []


def test_reasoning_that_changed_is_found_and_reasoning_that_is_gone_is_not() -> None:
    upstream = turn(reply=assistant("Yes.", reasoning="I look it up."), tap="upstream")
    changed = turn(reply=assistant("Yes.", reasoning="I guess."))
    assert findings(RULE, back(upstream, changed))
    assert findings(RULE, back(upstream, turn(reply="Yes."))) == []


def test_reasoning_folded_into_the_text_is_another_matter() -> None:
    upstream = turn(reply=assistant("Yes.", reasoning="I look it up."), tap="upstream")
    folded = turn(reply="<think>I look it up.</think>Yes.")
    assert findings(RULE, back(upstream, folded)) == []


def test_a_translator_may_join_blocks_of_text() -> None:
    blocks = Message("assistant", (Text("One."), Text("Two.")))
    upstream = turn(reply=blocks, tap="upstream", dialect=MESSAGES)
    assert findings(RULE, back(upstream, turn(reply="One.\nTwo."))) == []
    assert findings(RULE, back(upstream, turn(reply="One.")))


def test_a_reply_that_broke_off_is_skipped() -> None:
    half = streamed(said("The weir "), finish=None, done=False, end="client_abort")
    whole = streamed(said("The weir "), said("is open."), tap="upstream")
    assert skips(RULE, back(whole, half)) == ["the reply failed or broke off"]


@given(st.text(min_size=1).filter(str.strip), st.lists(st.integers(0, 40), max_size=6))
def test_cuts_do_not_count(text: str, cuts: list[int]) -> None:
    """However the text is cut into pieces, the same text is no change."""
    edges = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    pieces = [said(text[a:b]) for a, b in pairwise(edges)]
    upstream, client = streamed(said(text), tap="upstream"), streamed(*pieces)
    assert findings(RULE, back(upstream, client)) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "Your name is Bob.",
            "Zorblax.",
            "the proxy changed the text of the reply from 17 characters to 8, beginning with "
            "character 1: “Your name is Bob.” became “Zorblax.”",
        ),
        (
            "The weir is open today.",
            "The weir is opened today.",
            "the proxy changed the text of the reply from 23 characters to 25, beginning with "
            "character 17: “…open today.” became “…opened today.”",
        ),
        (
            "The weir is open today.",
            "The weir",
            "the proxy changed the text of the reply from 23 characters to 8, beginning with "
            "character 9: “…weir is open today.” became “…weir”",
        ),
        (
            "The weir is open.",
            "",
            "the proxy took all 17 characters of text out of the reply: “The weir is open.”",
        ),
    ],
)
def test_the_message_shows_what_changed(old: str, new: str, told: str) -> None:
    assert [f.message for f in findings(RULE, both(old, new))] == [told]


def test_the_message_tells_of_text_that_nobody_said() -> None:
    asked = turn(reply=assistant("", call("k")), tap="upstream")
    told = [f.message for f in findings(RULE, both(asked, turn(reply=assistant("Hm.", call("k")))))]
    assert told == ["the proxy put 3 characters of text of its own into the reply: “Hm.”"]
