"""stream.done_missing"""

import pytest
from rules.builders import MESSAGES, findings, pointers, said, streamed, wire

from proxyaudit.core.exchange import End

RULE = "stream.done_missing"


def test_a_finish_without_the_sentinel_is_found() -> None:
    found = findings(RULE, streamed(said("Port Arlo."), done=False))
    assert pointers(found) == ["/stream"]


def test_a_stream_with_its_sentinel_is_lawful() -> None:
    assert findings(RULE, streamed(said("Port Arlo."))) == []


def test_a_stream_without_finish_is_another_matter() -> None:
    assert findings(RULE, streamed(said("Port"), finish=None, done=False)) == []


@pytest.mark.parametrize("end", ["client_abort", "recorder_stopped"])
def test_nothing_is_said_of_a_stream_that_this_side_ended(end: End) -> None:
    assert findings(RULE, streamed(said("Port Arlo."), done=False, end=end)) == []


def messages_stream(*last: str):  # type: ignore[no-untyped-def]
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": []}
    frames = (
        'event: message_start\ndata: {"type":"message_start","message":{"id":"r","model":"m"}}\n\n',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
        *last,
    )
    return wire(body, frames=[(0.1 * n, f) for n, f in enumerate(frames)], dialect=MESSAGES)


def test_messages_ends_with_an_event_of_its_own() -> None:
    stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    assert findings(RULE, messages_stream(stop)) == []
    assert findings(RULE, messages_stream())
