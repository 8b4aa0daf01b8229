"""content.null_rejected"""

from typing import Any

import pytest
from rules.builders import MESSAGES, ask, findings, hop, pointers, wire

from proxyaudit.core.turn import Turn

RULE = "content.null_rejected"
TOLD = "expected string, received null at messages[1].content"
ABSENT = object()


def sent(content: Any, status: int = 400, told: str = TOLD, **more: Any) -> Turn:
    said: dict[str, Any] = {"role": "assistant", **more}
    if content is not ABSENT:
        said["content"] = content
    messages = [{"role": "user", "content": "hi"}, said, {"role": "user", "content": "say ok"}]
    error = {"error": {"message": told}}
    return wire(ask(messages=messages, stream=False), error, status=status)


@pytest.mark.parametrize("empty", ["", [], [{"type": "text", "text": ""}]])
def test_empty_content_made_null_and_refused(empty: Any) -> None:
    found = findings(RULE, hop(sent(empty), sent(None)))
    assert pointers(found) == ["/messages/1/content"]
    assert found[0].confidence == "certain"


def test_left_out_and_refused() -> None:
    missing = sent(ABSENT, 422, "content: Field required")
    assert findings(RULE, hop(sent(""), missing))
    assert findings(RULE, hop(sent(""), sent(ABSENT, 422, "bad tools"))) == []


def test_in_the_messages_format() -> None:
    def made(content: Any) -> Turn:
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": content}]
        error = {"type": "error", "error": {"message": "messages.1.content: got null"}}
        body = {"model": "m", "max_tokens": 5, "messages": messages}
        return wire(body, error, dialect=MESSAGES, status=400)

    assert findings(RULE, hop(made(""), made(None)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sent(""), sent(None, 200)),
        (sent(""), sent("")),
        (sent(None), sent(None)),
        (sent("words"), sent("words")),
        (sent(""), sent(None, 429, "slow down")),
        (sent(""), sent(None, 500, TOLD)),
    ],
)
def test_near_miss_accepted_kept_or_refused_for_another_reason(left: Turn, right: Turn) -> None:
    assert findings(RULE, hop(left, right)) == []
