"""content.part_dropped"""

from typing import Any

import pytest
from rules.builders import MESSAGES, after, ask, findings, hop, pointers, turn, wire

from proxyaudit.core.message import Media, Message, Part, Text, ToolResult, assistant, user
from proxyaudit.core.turn import Turn

RULE = "content.part_dropped"
BIRD = Text("What bird is this?")
NOTE = Text("It stood in the reeds.")
PICTURE, OTHER = Media("image", "d1"), Media("image", "d2")


def asked(*parts: Part, **more: Any) -> Turn:
    return turn(Message("user", parts, raw_role="user"), **more)


def next_of(*parts: Part) -> Turn:
    said = Message("user", parts, raw_role="user")
    return turn(said, assistant("Fine."), user("Sure?"), id="2")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((BIRD, PICTURE), (BIRD,)),
        ((BIRD, PICTURE, OTHER), (BIRD, OTHER)),
        ((BIRD, PICTURE), (BIRD, Text("[image omitted]"))),
        ((PICTURE,), (Text("(image removed)"),)),
        ((BIRD, NOTE), (BIRD,)),
        ((BIRD, NOTE, PICTURE), (BIRD, PICTURE)),
        ((BIRD, NOTE), (BIRD, Text("[content part removed]"))),
    ],
)
def test_a_part_is_gone(left: tuple[Part, ...], right: tuple[Part, ...]) -> None:
    across = hop(asked(*left), asked(*right, tap="upstream"))
    later = after(asked(*left), next_of(*right))
    for comparison in (across, later):
        assert [f.severity for f in findings(RULE, comparison)] == [None]
        assert findings("message.rewritten", comparison) == []


def test_the_places_are_those_of_the_bytes() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": "https://p.example/1.png"}}
    words = {"type": "text", "text": "What bird is this?"}

    def made(*content: dict[str, Any]) -> Turn:
        body = ask(messages=[{"role": "user", "content": list(content)}], max_tokens=5)
        return wire(body, {}, dialect=MESSAGES)

    found = findings(RULE, hop(made(words, picture), made(words)))
    assert pointers(found) == ["/messages/0"]
    assert [p.pointer for p in found[0].before] == ["/messages/0/content/1"]
    assert "1 image" in found[0].message


def test_a_picture_in_a_tool_result() -> None:
    left = turn(Message("tool", (ToolResult("a", "shot", (PICTURE,)),)))
    right = turn(Message("tool", (ToolResult("a", "shot"),)), tap="upstream")
    assert findings(RULE, hop(left, right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((BIRD, PICTURE), (BIRD, Media("image", "packed"))),
        ((BIRD, NOTE), (Text(BIRD.text + NOTE.text),)),
        ((BIRD, NOTE), (Text(f"{BIRD.text}\n\n{NOTE.text}"),)),
        ((BIRD, NOTE), (NOTE, BIRD)),
        ((BIRD,), (BIRD, NOTE)),
        ((BIRD, NOTE), (Text("Which bird was it that stood there?"),)),
        ((BIRD, Text(" ")), (BIRD,)),
    ],
)
def test_near_miss_joined_packed_or_rewritten(
    left: tuple[Part, ...], right: tuple[Part, ...]
) -> None:
    assert findings(RULE, hop(asked(*left), asked(*right, tap="upstream"))) == []


def test_near_miss_a_picture_moved_to_the_next_message() -> None:
    left = turn(Message("tool", (ToolResult("a", "shot", (PICTURE,)),)), user("Well?"))
    moved = Message("user", (PICTURE, Text("Well?")), raw_role="user")
    right = turn(Message("tool", (ToolResult("a", "shot"),)), moved, tap="upstream")
    assert findings(RULE, hop(left, right)) == []


def test_a_tagged_note_that_goes_is_a_warning() -> None:
    note = Text("<env>Folder: /home</env>")
    found = findings(RULE, after(asked(note, BIRD), next_of(BIRD)))
    assert [f.severity for f in found] == ["warn"]


def test_instructions_that_drift_are_told_at_info() -> None:
    first = Message("system", (BIRD, NOTE), raw_role="system")
    second = Message("system", (BIRD,), raw_role="system")
    left, right = (
        turn(first, user("Go.")),
        turn(second, user("Go."), assistant("Fine."), user("On.")),
    )
    assert [f.severity for f in findings(RULE, after(left, right))] == ["info"]


def test_reasoning_that_left_the_text_again_is_no_lost_part() -> None:
    """As after a change of model and back."""
    parts = (Text("They name a bird."), Text("A heron."))
    old = turn(user("Which?"), Message("assistant", parts), user("Sure?"))
    thinks = assistant("A heron.", reasoning="They name a bird.")
    asks = (user("Sure?"), assistant("Fine."), user("So?"))
    assert findings(RULE, after(old, turn(user("Which?"), thinks, *asks, id="2"))) == []
    less = (user("Which?"), assistant("A heron."), *asks)
    assert findings(RULE, after(old, turn(*less, id="2"))), "without the reasoning it is one"
