"""usage.inconsistent"""

import pytest
from rules.builders import MESSAGES, call, findings, skips, turn, wire

from proxyaudit.core.message import Message, assistant, user
from proxyaudit.core.turn import Usage

RULE = "usage.inconsistent"
TEXT = "A mill grinds grain between two stones. Water or wind turns the upper stone."
LONG = TEXT * 8


@pytest.mark.parametrize(
    ("usage", "reply"),
    [
        (Usage(13, 0, 40), assistant(TEXT)),
        (Usage(13, 17, 40), assistant(TEXT)),
        (Usage(13, 0, 13), assistant(TEXT)),
        (Usage(13, 0), assistant("", call("a"))),
        (Usage(0, 17, 17), assistant(TEXT)),
        (Usage(13, 1, 14), assistant(LONG)),
        (Usage(13, 1, 14), assistant(TEXT)),
        (Usage(13, 17, 30, cached=100), assistant(TEXT)),
        (Usage(-1, 17), assistant(TEXT)),
        (Usage(13, 17, 30, reasoning=40), assistant(TEXT)),
    ],
)
def test_numbers_that_do_not_add_up(usage: Usage, reply: Message) -> None:
    found = findings(RULE, turn(user("Describe a mill."), reply=reply, usage=usage))
    assert [p.pointer for f in found for p in f.places] == ["/usage"]


def test_zero_beside_text_in_the_messages_format() -> None:
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": TEXT}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12, "output_tokens": 0},
    }
    asked = {"model": "m", "messages": [{"role": "user", "content": "Describe a mill."}]}
    assert findings(RULE, wire(asked, body, dialect=MESSAGES))


@pytest.mark.parametrize(
    ("usage", "reply"),
    [
        (Usage(13, 17, 30), assistant(TEXT)),
        (Usage(13, 17), assistant(TEXT)),
        (Usage(13, 4, 17), assistant(TEXT)),
        (Usage(None, None, 30), assistant(TEXT)),
        (Usage(9, 0, 9), Message("assistant", ())),
        (Usage(13, 17, 40, reasoning=10), assistant(TEXT)),
        (Usage(13, 17, 130, cached=100), assistant(TEXT)),
        (Usage(13, 17, 57, reasoning=27), assistant(TEXT)),
        (Usage(13, 300, 313, reasoning=280), assistant(TEXT)),
        (Usage(0, 17, 17, cached=12), assistant(TEXT)),
    ],
)
def test_near_miss_numbers_that_can_be_explained(usage: Usage, reply: Message) -> None:
    assert findings(RULE, turn(user("Describe a mill."), reply=reply, usage=usage)) == []


def test_no_usage_is_another_fault() -> None:
    assert skips(RULE, turn(user("hi"))) == ["the reply carries no usage"]
