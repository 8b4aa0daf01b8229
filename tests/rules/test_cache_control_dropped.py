"""cache.control_dropped"""

from typing import Any

import pytest
from rules.builders import CHAT, MESSAGES, findings, hop, pointers, wire

from proxyaudit.core.turn import Turn

RULE = "cache.control_dropped"
MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(words: str, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": words, **(mark or {})}


def sent(system: Any, *content: dict[str, Any], dialect: str = MESSAGES) -> Turn:
    messages = [{"role": "user", "content": list(content) or "Opening hours?"}]
    if dialect == CHAT:
        return wire(
            {"model": "m", "messages": [{"role": "system", "content": system}, *messages]}, {}
        )
    body = {"model": "m", "max_tokens": 9, "system": system, "messages": messages}
    return wire(body, {}, dialect=MESSAGES)


def test_markers_that_are_taken_off() -> None:
    found = findings(RULE, hop(sent([text("Museum.", MARK)]), sent([text("Museum.")])))
    assert [f.severity for f in found] == [None]
    assert pointers(found) == ["/system/0"]
    assert [p.pointer for p in found[0].before] == ["/system/0/cache_control"]


def test_instructions_made_a_plain_string() -> None:
    assert pointers(findings(RULE, hop(sent([text("Museum.", MARK)]), sent("Museum.")))) == [
        "/system"
    ]


def test_one_of_two_is_gone() -> None:
    left = sent([text("Museum.", MARK)], text("Hours?", MARK))
    right = sent([text("Museum.", MARK)], text("Hours?"))
    assert pointers(findings(RULE, hop(left, right))) == ["/messages/0/content/0"]


def test_markers_in_chat_completions() -> None:
    left = sent([text("Museum.", MARK)], dialect=CHAT)
    right = sent([text("Museum.")], dialect=CHAT)
    assert pointers(findings(RULE, hop(left, right))) == ["/messages/0/content/0"]


def test_a_ttl_that_is_gone() -> None:
    found = findings(RULE, hop(sent([text("Museum.", HOUR)]), sent([text("Museum.", MARK)])))
    assert "ttl" in found[0].message


def test_a_translation_is_told_at_info() -> None:
    comparison = hop(sent([text("Museum.", MARK)]), sent("Museum.", dialect=CHAT))
    assert [f.severity for f in findings(RULE, comparison)] == ["info"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sent([text("Museum.", MARK)]), sent([text("Museum.", MARK)])),
        (sent([text("Museum.", MARK)]), sent([text("Museum.")], text("Hours?", MARK))),
        (sent([text("Museum.")]), sent([text("Museum.", MARK)])),
        (sent([text("Museum.", {"cache_control": None})]), sent([text("Museum.")])),
        (sent('Write "cache_control": {} for me.'), sent("Write it for me.")),
    ],
)
def test_near_miss_moved_added_or_never_set(left: Turn, right: Turn) -> None:
    assert findings(RULE, hop(left, right)) == []


@pytest.mark.parametrize(
    ("model", "severity"), [("claude-opus", None), ("acme/anthropic.x", None), ("gpt", "info")]
)
def test_a_translation_loses_what_some_models_read(model: str, severity: str | None) -> None:
    marked = {"type": "text", "text": "Clerk.", "cache_control": {"type": "ephemeral"}}
    left = wire({"model": model, "system": [marked], "messages": []}, {}, dialect=MESSAGES)
    body = {"model": model, "messages": [{"role": "system", "content": "Clerk."}]}
    right = wire(body, {}, tap="upstream", id="2")
    assert [f.severity for f in findings(RULE, hop(left, right))] == [severity]
