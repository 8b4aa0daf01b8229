"""context.state_ignored"""

import json
from typing import Any

import pytest
from rules.builders import CHAT, RESPONSES, findings, pointers, skips, traffic, wire

from proxyaudit.core.turn import Turn

RULE = "context.state_ignored"
ABSENT = object()


def answer(id_: str, previous: Any, tokens: int | None, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": "Noted."}]
    body: dict[str, Any] = {
        "id": id_,
        "object": "response",
        "model": "m",
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": content}],
        **more,
    }
    if tokens is not None:
        body["usage"] = {"input_tokens": tokens, "output_tokens": 2, "total_tokens": tokens + 2}
    return body if previous is ABSENT else body | {"previous_response_id": previous}


def asked(
    id_: str,
    refers_to: str | None = None,
    *,
    told: Any = ABSENT,
    tokens: int | None = None,
    status: int = 200,
    **more: Any,
) -> Turn:
    body: dict[str, Any] = {"model": "m", "input": "Which word?", **more}
    if refers_to:
        body["previous_response_id"] = refers_to
    reply = answer(id_, told, tokens) if status == 200 else {"error": {"message": "not found"}}
    return wire(body, reply, dialect=RESPONSES, id=id_, status=status)


def test_a_reply_that_denies_the_reference() -> None:
    turns = [asked("q1", told=None, tokens=52), asked("q2", "q1", told=None, tokens=80)]
    found = findings(RULE, traffic(turns))
    assert pointers(found) == ["/previous_response_id"]
    assert [p.side for f in found for p in f.before] == ["client.request"]


def test_too_few_tokens_for_what_came_before() -> None:
    turns = [asked("q1", tokens=52), asked("q2", "q1", tokens=40)]
    found = findings(RULE, traffic(*turns))
    assert pointers(found) == ["/usage"]
    assert found[0].evidence["prompt_tokens_before"] == 52


def test_hardly_more_tokens_than_before_leave_no_room_for_the_reply() -> None:
    turns = [asked("q1", tokens=52), asked("q2", "q1", told="q1", tokens=53)]
    assert pointers(findings(RULE, traffic(*turns))) == ["/usage"]


def test_near_miss_a_server_that_counts_everything_alike() -> None:
    assert findings(RULE, traffic(asked("q1", tokens=9), asked("q2", "q1", tokens=9))) == []


def test_near_miss_reasoning_of_the_earlier_reply_may_be_what_is_missing() -> None:
    thought = {"type": "reasoning", "summary": [], "encrypted_content": "c2VhbGVk"}
    reply = answer("q1", None, 52)
    reply["output"] = [thought, *reply["output"]]
    first = wire({"model": "m", "input": "Think."}, reply, dialect=RESPONSES, id="q1")
    assert findings(RULE, traffic(first, asked("q2", "q1", told="q1", tokens=53))) == []


def held(id_: str, tokens: int, name: str = "conv_1") -> Turn:
    body = {"model": "m", "input": "Hm?", "conversation": name}
    return wire(body, answer(id_, ABSENT, tokens), dialect=RESPONSES, id=id_)


def test_a_conversation_object_that_holds_nothing() -> None:
    found = findings(RULE, traffic(held("q1", 52), held("q2", 38)))
    assert [p.pointer for f in found for p in f.before] == ["/conversation"]


def test_near_miss_another_conversation_object() -> None:
    assert findings(RULE, traffic(held("q1", 52), held("q2", 38, "conv_2"), held("q3", 68))) == []


def test_the_earlier_turn_need_not_be_recorded_to_see_a_null() -> None:
    assert findings(RULE, traffic(asked("q2", "unknown", told=None)))


def test_in_a_stream() -> None:
    done = {"type": "response.completed", "response": answer("q2", None, 40)}
    frame = f"event: response.completed\ndata: {json.dumps(done)}\n\n"
    body = {"model": "m", "input": "Hm?", "stream": True, "previous_response_id": "q1"}
    made = wire(body, frames=[(0.1, frame)], dialect=RESPONSES)
    assert pointers(findings(RULE, traffic(made))) == ["/stream"]


def test_a_conversation_object_that_is_denied() -> None:
    body = {"model": "m", "input": "Hm?", "conversation": "conv_1"}
    made = wire(body, answer("q2", ABSENT, 40, conversation=None), dialect=RESPONSES)
    assert pointers(findings(RULE, traffic(made))) == ["/conversation"]


@pytest.mark.parametrize(
    "second",
    [
        asked("q2", "q1", told="q1", tokens=68),
        asked("q2", "q1", tokens=68),
        asked("q2", "q1"),
        asked("q2", "q1", told=None, status=404),
        asked("q2", told=None, tokens=12),
        asked("q2", "q1", told="q1", tokens=40, truncation="auto"),
        asked("q2", "q1", told="q1", tokens=40, tools=[{"type": "function", "name": "f"}]),
        asked("q2", "q1", told="q1", tokens=40, instructions="Be brief."),
    ],
)
def test_near_miss_a_reference_that_worked_or_was_refused(second: Turn) -> None:
    assert findings(RULE, traffic([asked("q1", told=None, tokens=52), second])) == []


def test_nothing_refers_to_anything() -> None:
    made = wire({"model": "m", "messages": []}, {"choices": []}, dialect=CHAT)
    assert skips(RULE, traffic(made)) == ["no request refers to a history kept by the server"]
