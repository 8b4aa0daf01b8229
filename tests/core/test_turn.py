"""Whether the reply to a turn came whole."""

from dataclasses import replace

import pytest

from proxyaudit.core.exchange import End, Exchange, Request, Response
from proxyaudit.core.message import assistant
from proxyaudit.core.turn import Prompt, Reply, Stream, Turn


def streamed(end: End, *, done: bool, finish: str | None = "stop") -> Turn:
    request = Request("POST", "http://model.test/v1/responses", ())
    exchange = Exchange("e", "client", 1.0, request, Response(200, ended_at=0.5))
    reply = Reply(assistant("three rakes"), finish, finish, stream=Stream((), done=done))
    return Turn(replace(exchange, end=end), "openai-responses", Prompt(()), reply)


def test_a_client_that_hangs_up_behind_the_last_event_got_the_whole_reply() -> None:
    assert streamed("client_abort", done=True).ok


@pytest.mark.parametrize(
    ("end", "done", "finish"),
    [
        ("client_abort", False, "stop"),
        ("client_abort", True, None),
        ("upstream_reset", True, "stop"),
        ("recorder_stopped", True, "stop"),
    ],
)
def test_near_miss_it_hung_up_before_or_another_did(
    end: End, done: bool, finish: str | None
) -> None:
    assert not streamed(end, done=done, finish=finish).ok
