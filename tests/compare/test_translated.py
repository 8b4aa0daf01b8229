"""A history with ids compares to its translation into a format that has none."""

import json
from typing import Any

import pytest

from proxyaudit.compare.relation import forwarded, returned
from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.message import Message, ToolCall, assistant, is_sent, system, tool, user
from proxyaudit.core.turn import Prompt, Turn
from proxyaudit.dialects.read import dialect_named, read_turn
from proxyaudit.dialects.unnamed import lacks_ids, without_ids
from proxyaudit.rules.base import Facts, all_rules

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "ollama-chat": "/api/chat",
    "gemini": "/v1beta/models/m:generateContent",
}
HISTORY = (
    system("You keep a shed."),
    user("Count the rakes and the cans."),
    assistant(
        "I count.",
        ToolCall("a1", "count", '{"of":"rakes"}'),
        ToolCall("a2", "count", '{"of":"cans"}'),
    ),
    tool("a2", "two"),
    tool("a1", "seven"),
    assistant("", ToolCall("a3", "note", "{}")),
    tool("a3", "noted"),
)
REPLY = assistant("Seven rakes, two cans.", ToolCall("a4", "count", '{"of":"spades"}'))


def wired(name: str, tap: Tap, history: tuple[Message, ...], reply: Message = REPLY) -> Turn:
    """A turn as the dialect writes it, ids left out where the format has none."""
    dialect = dialect_named(name)
    assert dialect is not None
    if name != "openai-chat":
        history, reply = without_ids(in_order(history)), without_ids([reply])[0]
    body = dialect.write_prompt(Prompt(history, model="m"))
    written: Any = dialect.write_prompt(Prompt((reply,)))
    said = written["contents" if name == "gemini" else "messages"][0]
    answers: dict[str, Any] = {
        "openai-chat": {"choices": [{"message": said, "finish_reason": "tool_calls"}]},
        "ollama-chat": {"message": said, "done": True},
        "gemini": {"candidates": [{"content": said, "finishReason": "STOP"}]},
    }
    request = Request("POST", f"http://h{PATHS[name]}", (), json.dumps(body).encode())
    response = Response(200, (), json.dumps(answers[name]).encode(), ended_at=0.5)
    turn = read_turn(Exchange(tap, tap, 1.0, request, response))
    assert isinstance(turn, Turn)
    return turn


def in_order(history: tuple[Message, ...]) -> tuple[Message, ...]:
    """Without ids, results of one tool are told apart by their order alone."""
    listed = list(history)
    at = next((n for n, m in enumerate(listed) if m.results and m.results[0].call_id == "a2"), None)
    if at is not None and len(listed) > at + 1:
        listed[at], listed[at + 1] = listed[at + 1], listed[at]
    return tuple(listed)


ORDERED = in_order(HISTORY)


@pytest.mark.parametrize("there", ["ollama-chat", "gemini"])
def test_a_faithful_translation_has_no_changes(there: str) -> None:
    client = wired("openai-chat", "client", ORDERED)
    upstream = wired(there, "upstream", HISTORY)
    hop = forwarded(client, upstream)
    assert hop.changes == ()
    assert [m.content for m in hop.left_messages] == [m.content for m in hop.right_messages]
    assert returned(upstream, client).changes == ()
    findings = [
        found
        for rule in all_rules()
        if rule.family in ("history", "tools", "reasoning", "system")
        for comparison in (hop, returned(upstream, client))
        if comparison.relation in rule.relations
        for found in rule.check(comparison, Facts())
        if hasattr(found, "places")
    ]
    assert findings == []


@pytest.mark.parametrize("there", ["ollama-chat", "gemini"])
def test_what_a_translation_loses_is_found(there: str) -> None:
    lost = tuple(m for m in HISTORY if m.text != "noted")
    hop = forwarded(wired("openai-chat", "client", ORDERED), wired(there, "upstream", lost))
    assert [(c.kind, list(c.left)) for c in hop.changes] == [("dropped", [6])]


def test_two_histories_with_ids_are_compared_with_them() -> None:
    client = wired("openai-chat", "client", ORDERED)
    upstream = wired("openai-chat", "upstream", ORDERED)
    assert forwarded(client, upstream).left_messages is client.prompt.messages


def test_ids_are_left_out_alike_on_both_sides() -> None:
    bare = without_ids(HISTORY)
    assert not lacks_ids(HISTORY)
    assert lacks_ids(bare)
    assert without_ids(bare) == bare
    assert [c.id for m in bare for c in m.calls] == [
        "no id: count 1",
        "no id: count 2",
        "no id: note 1",
    ]
    assert [r.call_id for m in bare for r in m.results] == [
        "no id: count 2",
        "no id: count 1",
        "no id: note 1",
    ]
    assert not any(is_sent(c.id) for m in bare for c in m.calls)
    orphan = without_ids([tool("gone", "text")])[0]
    assert orphan.results[0].call_id == "no id:  without a call"
