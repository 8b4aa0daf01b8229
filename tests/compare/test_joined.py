"""Replies that the Responses format puts into one message, since nothing stands between them."""

from collections.abc import Sequence
from typing import Any

import pytest
from rules.builders import CHAT, RESPONSES, wire

from proxyaudit.compare.relation import next_turn
from proxyaudit.compare.thread import Threader
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.turn import Turn

ASKED = "Eleven capes are in the cellar.", "Four of them are lent.", "Who mends the harp?"
SAID = "Eleven capes, noted.", "Seven are left.", "Nobody is on record yet."


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def said(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content}


def asked(number: int, items: Sequence[dict[str, Any]], answer: str = "Fine.") -> Turn:
    body = {"model": "m", "instructions": "Keep the props.", "input": list(items)}
    reply = {
        "id": f"q{number}",
        "object": "response",
        "model": "m",
        "status": "completed",
        "output": [{"id": "m1", "status": "completed", **said(answer)}],
    }
    return wire(body, reply, dialect=RESPONSES, id=str(number))


WHOLE = [item for pair in zip(map(user, ASKED), map(said, SAID), strict=True) for item in pair]


def after(items: Sequence[dict[str, Any]]) -> Comparison:
    """The fourth request against the third, with the history as given."""
    threader = Threader()
    turns = [asked(n + 1, WHOLE[: 2 * n + 1], SAID[n]) for n in range(3)]
    for turn in turns:
        threader.place(turn)
    last = asked(4, [*items, user("Write to Mr Ode.")])
    found = next_turn(threader.place(last), last)
    assert found is not None
    assert found.left.id == "3"
    return found


def without(*gone: int) -> list[dict[str, Any]]:
    return [item for n, item in enumerate(WHOLE) if n not in gone]


def test_the_whole_history_has_no_change() -> None:
    assert after(WHOLE).changes == ()


@pytest.mark.parametrize("gone", [2, 4])
def test_a_user_message_lost_between_two_replies_is_dropped(gone: int) -> None:
    """The two replies stand side by side then, and are read as one message."""
    found = after(without(gone))
    dropped = [i for c in found.changes if c.kind == "dropped" for i in c.left]
    assert [found.left_messages[i].text for i in dropped] == [ASKED[gone // 2]]
    assert not found.forked
    assert {c.kind for c in found.changes} == {"dropped", "merged"}


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_reply_that_stands_there_twice_is_duplicated(at: int) -> None:
    changes = after([*WHOLE[: at + 1], *WHOLE[at:]]).changes
    assert [c.kind for c in changes] == ["duplicated"]


def test_the_first_half_of_a_reply_beside_the_whole_is_duplicated() -> None:
    changes = after([*WHOLE[:5], said("Nobody is"), WHOLE[5]]).changes
    assert [c.kind for c in changes] == ["duplicated"]


def test_a_user_message_sent_as_one_of_the_assistant_changed_its_role() -> None:
    changes = after([*WHOLE[:2], said(ASKED[1]), *WHOLE[3:]]).changes
    assert {c.kind for c in changes} == {"role_changed", "merged"}


def test_another_word_in_a_joined_reply_is_rewritten() -> None:
    changes = after([*WHOLE[:2], said("Five are left."), *WHOLE[4:]]).changes
    assert "duplicated" not in {c.kind for c in changes}
    assert "rewritten" in {c.kind for c in changes} or "dropped" in {c.kind for c in changes}


def test_near_miss_two_parts_of_one_chat_message_are_merged() -> None:
    """In chat completions each message stands for itself: who folded two wrote that down."""
    parts = [{"type": "text", "text": text} for text in SAID[:2]]
    before = [
        {"role": "user", "content": "Go."},
        *({"role": "assistant", "content": t} for t in SAID[:2]),
    ]
    reply = {
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
        ],
    }
    threader = Threader()
    first = wire({"model": "m", "messages": before}, reply, dialect=CHAT, id="1")
    folded = [
        before[0],
        {"role": "assistant", "content": parts},
        {"role": "assistant", "content": "ok"},
    ]
    again = wire(
        {"model": "m", "messages": [*folded, {"role": "user", "content": "More."}]},
        reply,
        dialect=CHAT,
        id="2",
    )
    threader.place(first)
    found = next_turn(threader.place(again), again)
    assert found is not None
    assert [c.kind for c in found.changes] == ["merged"]
