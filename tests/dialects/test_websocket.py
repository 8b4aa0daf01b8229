"""Several turns on one websocket."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import End, Exchange, Request, Response, WebSocketMessage
from proxyaudit.core.message import system, user
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.glance import TOO_LARGE, Glance, glance
from proxyaudit.dialects.read import WEBSOCKET, NotATurn, read_turns
from proxyaudit.engine import audit

type Frame = tuple[str, dict[str, Any] | str | bytes]


def socket(*frames: Frame, id_: str = "w", end: End = "complete", at: float = 0.0) -> Exchange:
    """A websocket with frames of ("client" or "server", data), a second apart."""
    messages = tuple(
        WebSocketMessage(float(n), sender, json.dumps(data) if isinstance(data, dict) else data)  # type: ignore[arg-type]
        for n, (sender, data) in enumerate(frames)
    )
    request = Request("GET", "ws://h/v1/responses", (("upgrade", "websocket"),))
    return Exchange(id_, "client", 100.0 + at, request, Response(101), end, websocket=messages)


def says(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def ask(*items: dict[str, Any], **more: Any) -> Frame:
    return "client", {"type": "response.create", "model": "m", "input": list(items), **more}


def answer(id_: str, text: str = "", **more: Any) -> list[Frame]:
    message = {"type": "message", "role": "assistant"}
    output = [{**message, "content": [{"type": "output_text", "text": text}]}] if text else []
    usage = {"input_tokens": 9, "output_tokens": 2}
    response = {"id": id_, "model": "m", "status": "completed", "output": output, "usage": usage}
    begun: Frame = ("server", {"type": "response.created", "response": {"id": id_}})
    ended: Frame = ("server", {"type": "response.completed", "response": {**response, **more}})
    return [begun, ended]


WARM = (ask(says("developer", "Be terse."), generate=False), *answer("r0"))
FIRST = (ask(says("user", "one"), previous_response_id="r0"), *answer("r1", "first"))
SECOND = (ask(says("user", "two"), previous_response_id="r1"), *answer("r2", "second"))


def read(exchange: Exchange) -> tuple[Turn, ...]:
    turns = read_turns(exchange)
    assert not isinstance(turns, NotATurn)
    return turns


def test_a_websocket_holds_several_turns_and_a_warm_up_is_none() -> None:
    turns = read(socket(*WARM, *FIRST, *SECOND))
    assert [(t.id, t.part, t.recorded_id) for t in turns] == [("w", 0, "w"), ("w#2", 1, "w")]
    assert all(t.ok and t.dialect == "openai-responses" for t in turns)
    assert turns[0].prompt.messages == (system("Be terse."), user("one"))
    assert [m.pointer for m in turns[0].prompt.messages] == ["/previous_response_id", "/input/0"]
    assert [t.reply.message.text for t in turns if t.reply and t.reply.message] == [
        "first",
        "second",
    ]


def test_a_view_of_a_part_holds_its_frames_and_counts_from_its_question() -> None:
    exchange = socket(*WARM, *FIRST, *SECOND)
    view = read(exchange)[1].exchange
    assert view.started_at == 106.0
    assert view.websocket == (exchange.websocket or ())[6:]
    assert json.loads(view.request.body)["previous_response_id"] == "r1"
    assert view.response is not None
    assert [json.loads(line)["type"] for line in view.response.body.splitlines()] == [
        "response.created",
        "response.completed",
    ]
    assert [chunk.at for chunk in view.response.chunks] == [1.0, 2.0]
    assert sum(chunk.size for chunk in view.response.chunks) == len(view.response.body)


def test_an_error_frame_is_an_error_with_its_status() -> None:
    refusal = {"type": "error", "status": 429, "error": {"message": "slow down"}}
    turn = read(socket(ask(says("user", "one")), ("server", refusal)))[0]
    assert (turn.status, turn.ok, turn.exchange.end) == (429, False, "complete")
    assert turn.reply is not None
    assert turn.reply.error == "slow down"


@pytest.mark.parametrize("end", ["complete", "client_abort", "upstream_reset"])
def test_an_answer_that_broke_off_ended_as_the_websocket_did(end: End) -> None:
    begun = answer("r1")[:1]
    assert read(socket(ask(says("user", "one")), *begun, end=end))[0].exchange.end == end
    asked_anew = read(socket(ask(says("user", "one")), *begun, *SECOND, end=end))
    assert [t.exchange.end for t in asked_anew] == ["client_abort", "complete"]


def test_what_asks_for_nothing_is_no_turn() -> None:
    other = ("client", {"type": "response.create", "response": {"modalities": ["audio"]}})
    binary: Frame = ("client", b"\xff\x00")
    for exchange in (socket(), socket(other, binary), socket(*WARM), socket(*answer("r1"))):
        assert read_turns(exchange) is WEBSOCKET


def test_a_glance_counts_the_items_of_all_questions() -> None:
    exchange = socket(*WARM, *FIRST, *SECOND)
    assert glance(exchange) == Glance("m", 3)
    assert glance(exchange, limit=50) is TOO_LARGE
    assert glance(socket()) is WEBSOCKET


def test_two_websockets_are_one_conversation() -> None:
    """Each opens with a warm-up; the second sends the history again and goes on."""
    said = {"type": "message", "role": "assistant"}
    history = (
        says("user", "one"),
        {**said, "content": [{"type": "output_text", "text": "first"}]},
        says("user", "two"),
    )
    warm = (ask(says("developer", "Be terse."), generate=False), *answer("s0"))
    again = (ask(*history, previous_response_id="s0"), *answer("s1", "second"))
    more = (ask(says("user", "three"), previous_response_id="s1"), *answer("s2", "third"))
    one, two = socket(*WARM, *FIRST), socket(*warm, *again, *more, id_="v", at=50)
    audited = audit(Recording("x", (one, two)))
    assert [t.id for c in audited.conversations for t in c.turns] == ["w", "v", "v#2"]
    assert [c.exchanges for c in audited.report.conversations] == [["w", "v"]]
    assert audited.report.findings == []


def test_turns_of_websockets_that_are_open_together_come_in_order_of_time() -> None:
    one = socket(*WARM, *FIRST, *SECOND)
    two = socket(*WARM, *FIRST, *SECOND, id_="v", at=1.5)
    assert list(audit(Recording("x", (one, two)), ()).turns) == ["w", "v", "w#2", "v#2"]


def test_a_place_on_a_websocket_names_its_turn() -> None:
    call = {"type": "function_call", "call_id": "k", "name": "read", "arguments": "{}"}
    first = (ask(says("user", "read")), *answer("r1", output=[call]))
    second = (ask(says("user", "well?"), previous_response_id="r1"), *answer("r2", "ok"))
    report = audit(Recording("x", (socket(*first, *second),))).report
    found = next(f for f in report.findings if f.rule == "tool.unanswered_call")
    assert (found.places[0].exchange, found.turn) == ("w#2", 2)


def test_a_stream_without_its_end_is_told_only_where_it_is_known_who_ended_it() -> None:
    begun = (ask(says("user", "one")), *answer("r1")[:1])
    rules = {
        end: {f.rule for f in audit(Recording("x", (socket(*begun, end=end),))).report.findings}
        for end in ("complete", "upstream_reset")
    }
    assert rules == {"complete": set(), "upstream_reset": {"stream.truncated"}}


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "input", "response", "id", "model"]), inner)
    ),
    max_leaves=6,
)
FRAMES = st.tuples(
    st.sampled_from(["client", "server"]),
    st.one_of(
        st.binary(max_size=8),
        st.text(max_size=8),
        JSONISH.map(json.dumps),
        JSONISH.map(lambda v: json.dumps({"type": "response.create", "input": v})),
        JSONISH.map(lambda v: json.dumps({"type": "response.completed", "response": v})),
    ),
)


@given(frames=st.lists(FRAMES, max_size=6), has_response=st.booleans())
def test_no_frames_raise(frames: list[Frame], has_response: bool) -> None:
    exchange = socket(*frames)
    read_turns(exchange if has_response else replace(exchange, response=None))
    glance(exchange)
