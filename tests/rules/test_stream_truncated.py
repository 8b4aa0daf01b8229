"""stream.truncated"""

import pytest
from rules.builders import RESPONSES, ask, chunk, findings, pointers, said, skips, streamed, wire

from proxyaudit.core.exchange import End

RULE = "stream.truncated"
ERROR = {"error": {"message": "overloaded", "code": 502}}


@pytest.mark.parametrize("end", ["complete", "upstream_reset", "upstream_eof", "timeout"])
def test_a_stream_without_finish_is_found(end: End) -> None:
    here = streamed(said("The river "), finish=None, done=False, end=end)
    assert pointers(findings(RULE, here)) == ["/stream"]


def test_the_sentinel_alone_is_no_finish() -> None:
    assert findings(RULE, streamed(said("The river "), finish=None))


def test_a_whole_stream_is_lawful() -> None:
    assert findings(RULE, streamed(said("The river."))) == []


@pytest.mark.parametrize("end", ["client_abort", "recorder_stopped"])
def test_a_stream_that_this_side_ended_is_skipped(end: End) -> None:
    here = streamed(said("The river "), finish=None, done=False, end=end)
    assert findings(RULE, here) == []
    assert skips(RULE, here)


def test_an_error_told_in_the_stream_is_another_matter() -> None:
    assert findings(RULE, streamed(said("The river "), ERROR, finish=None)) == []


def test_a_broken_stream_whose_body_was_not_kept_is_found() -> None:
    """Flow files hold status and error of such a reply, and no body."""
    here = wire(ask(), "", end="upstream_eof")
    assert pointers(findings(RULE, here)) == ["/stream"]


def test_a_refused_request_is_no_broken_stream() -> None:
    assert findings(RULE, wire(ask(), "", status=502, end="upstream_eof")) == []


@pytest.mark.parametrize("end", ["complete", "upstream_eof"])
def test_half_a_json_object_is_found(end: End) -> None:
    here = wire(ask(stream=False), '{"choices": [{"message": {"content": "The ri', end=end)
    assert pointers(findings(RULE, here)) == [""]


def test_a_plain_reply_is_lawful() -> None:
    message = {"role": "assistant", "content": "The river."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert findings(RULE, wire(ask(stream=False), body)) == []


def test_responses_ends_with_the_whole_response() -> None:
    body = {"model": "m", "input": "Hi", "stream": True}
    text = '{"type":"response.output_text.delta","output_index":0,"delta":"Hi"}'
    end = '{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]}}'
    frames = [(0.1 * n, f"data: {data}\n\n") for n, data in enumerate((text, end))]
    assert findings(RULE, wire(body, frames=frames, dialect=RESPONSES)) == []
    assert findings(RULE, wire(body, frames=frames[:1], dialect=RESPONSES))
    assert chunk()["choices"]
