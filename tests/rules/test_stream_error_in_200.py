"""stream.error_in_200"""

from typing import Any

import pytest
from rules.builders import MESSAGES, ask, findings, pointers, said, streamed, wire

RULE = "stream.error_in_200"


@pytest.mark.parametrize(
    "frame",
    [
        'data: {"error": {"message": "provider overloaded", "code": 502}}\n\n',
        'data: {"error": "overloaded"}\n\n',
        'event: error\ndata: {"message": "overloaded"}\n\n',
    ],
)
def test_an_error_in_a_stream_is_found(frame: str) -> None:
    found = findings(RULE, streamed(said("The river "), frame, finish=None))
    assert pointers(found) == ["/stream/1"]
    assert "overloaded" in found[0].message


def test_an_error_event_of_messages_is_found() -> None:
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": []}
    frame = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    assert findings(RULE, wire(body, frames=[(0.1, frame)], dialect=MESSAGES))


def test_an_error_object_with_a_success_status_is_found() -> None:
    here = wire(ask(stream=False), {"error": {"message": "no worker"}})
    assert pointers(findings(RULE, here)) == ["/error"]


def test_a_refusal_with_its_status_is_lawful() -> None:
    assert findings(RULE, wire(ask(), {"error": {"message": "slow down"}}, status=429)) == []


def test_a_reply_that_speaks_of_errors_is_lawful() -> None:
    assert findings(RULE, streamed(said('It printed {"error": "no file"}.'))) == []


def test_a_page_that_is_no_json_is_another_matter() -> None:
    assert findings(RULE, wire(ask(stream=False), "<html>hello</html>")) == []


@pytest.mark.parametrize(
    "bare",
    [
        {"object": "error", "message": "engine dead", "code": 500},
        {"detail": "Internal Server Error"},
        {"status": 500, "message": "internal error"},
    ],
)
def test_an_error_without_an_object_around_it(bare: dict[str, Any]) -> None:
    made = streamed(said("The "), bare, finish=None)
    assert pointers(findings(RULE, made)) == ["/stream/1"]


def test_the_finish_reason_error() -> None:
    assert findings(RULE, streamed(said("The "), finish="error"))


def test_near_miss_a_detail_beside_an_answer() -> None:
    assert findings(RULE, streamed(said("The ") | {"detail": "x", "status": 500})) == []
