"""output.empty"""

from dataclasses import replace
from typing import Any

import pytest
from rules.builders import (
    CHAT,
    MESSAGES,
    RESPONSES,
    answered,
    ask,
    call,
    chunk,
    findings,
    pointers,
    skips,
    streamed,
    turn,
    wire,
)

from proxyaudit.core.message import Message, assistant, user
from proxyaudit.core.turn import Reply, Turn

RULE = "output.empty"
NOTHING = Message("assistant", ())
EMPTY_BODIES: dict[str, dict[str, Any]] = {
    CHAT: {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]},
    MESSAGES: {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"},
    RESPONSES: {"object": "response", "status": "completed", "output": []},
}


@pytest.mark.parametrize("dialect", EMPTY_BODIES)
def test_a_success_with_nothing_in_it(dialect: str) -> None:
    body = {"model": "m", "input" if dialect == RESPONSES else "messages": []}
    made = wire(body, EMPTY_BODIES[dialect], dialect=dialect)
    assert [f.severity for f in findings(RULE, made)] == [None]


def test_white_space_alone_is_nothing() -> None:
    found = findings(RULE, turn(user("Name a harbour."), reply=" \n"))
    assert pointers(found) == ["/choices/0/message"]


def test_an_empty_stream() -> None:
    assert findings(RULE, streamed(chunk({"role": "assistant", "content": ""})))


def test_a_success_without_a_body() -> None:
    made = replace(answered(turn(user("hi"))), reply=Reply())
    assert pointers(findings(RULE, made)) == [""]


@pytest.mark.parametrize(
    "made",
    [
        turn(user("hi"), reply="Fine."),
        turn(user("hi"), reply=assistant("", call("a"))),
        turn(user("hi"), reply=assistant("", reasoning="I think.")),
        turn(user("hi"), reply=NOTHING, finish="content_filter"),
        turn(user("hi"), reply=NOTHING, settings={"generate": False}),
        turn(user("hi"), reply=NOTHING, settings={"max_tokens": 0}),
    ],
)
def test_near_miss_something_is_there_or_nothing_was_asked_for(made: Turn) -> None:
    assert findings(RULE, made) == []


def test_near_miss_a_stream_that_broke_off_is_another_fault() -> None:
    made = streamed(chunk({"content": ""}), finish=None, done=False)
    assert findings(RULE, made) == []
    assert skips(RULE, made) == ["the reply failed or broke off"]


def test_near_miss_an_error_has_no_text() -> None:
    made = wire(ask(stream=False), {"error": {"message": "no"}}, status=500)
    assert findings(RULE, made) == []


def test_an_answer_without_a_choice() -> None:
    body = {"id": "r", "object": "chat.completion", "choices": [], "usage": {"prompt_tokens": 9}}
    assert findings(RULE, wire(ask(stream=False), body))


def test_a_stream_that_is_only_its_last_word() -> None:
    made = streamed(finish=None)
    assert findings(RULE, made)
    assert findings("stream.truncated", made) == []
    assert findings("stream.truncated", streamed(finish=None, done=False))


def test_near_miss_an_answer_that_says_why_it_has_none() -> None:
    body = {"id": "r", "choices": [], "error": {"message": "no capacity"}}
    assert findings(RULE, wire(ask(stream=False), body)) == []
