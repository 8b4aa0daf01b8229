"""usage.missing"""

from rules.builders import (
    MESSAGES,
    ask,
    back,
    findings,
    pointers,
    said,
    skips,
    streamed,
    turn,
    wire,
)

from proxyaudit.core.message import assistant
from proxyaudit.core.turn import Turn, Usage

RULE = "usage.missing"
ASKED = ask(stream_options={"include_usage": True})
COUNT = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}}


def test_usage_that_was_asked_for_and_never_came_is_found() -> None:
    assert pointers(findings(RULE, streamed(said("Port Arlo."), body=ASKED))) == ["/stream"]


def test_usage_that_came_is_lawful() -> None:
    assert findings(RULE, streamed(said("Port Arlo."), COUNT, body=ASKED)) == []


def test_a_stream_carries_none_unless_it_was_asked_for() -> None:
    assert findings(RULE, streamed(said("Port Arlo."))) == []


def test_a_stream_whose_end_is_lost_is_another_matter() -> None:
    assert findings(RULE, streamed(said("Port Arlo."), body=ASKED, done=False)) == []
    cut = streamed(said("Port"), body=ASKED, finish=None, done=False)
    assert skips(RULE, cut) == ["the reply failed or broke off"]


def test_a_plain_reply_without_usage_is_found() -> None:
    assert pointers(findings(RULE, turn(reply="Port Arlo."))) == ["/usage"]
    assert findings(RULE, turn(reply="Port Arlo.", usage=Usage(9, 2))) == []
    assert findings(RULE, turn(reply="Port Arlo.", usage=Usage())), "counts of null are none"


def test_an_empty_reply_counts_nothing() -> None:
    assert findings(RULE, turn(reply=assistant(""))) == []


def test_messages_always_carries_usage() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}]}
    reply = {"role": "assistant", "content": "Hi.", "stop_reason": "end_turn"}
    assert findings(RULE, wire(body, reply, dialect=MESSAGES))
    counted = {**reply, "usage": {"input_tokens": 3, "output_tokens": 1}}
    assert findings(RULE, wire(body, counted, dialect=MESSAGES)) == []


def side(tap: str, *, asked: bool, counted: bool) -> Turn:
    frames = [said("Port Arlo."), *([COUNT] if counted else [])]
    body = ASKED if asked else ask()
    return streamed(*frames, body=body, tap=tap, id=tap)  # type: ignore[arg-type]


def test_a_proxy_that_loses_it_is_named() -> None:
    upstream = side("upstream", asked=True, counted=True)
    found = findings(RULE, back(upstream, side("client", asked=True, counted=False)))
    assert [(p.exchange, p.pointer) for p in found[0].places] == [("client", "/stream")]
    assert found[0].before[0].exchange == "upstream"


def test_a_proxy_may_ask_for_usage_on_its_own_account() -> None:
    upstream = side("upstream", asked=True, counted=True)
    assert findings(RULE, back(upstream, side("client", asked=False, counted=False))) == []
