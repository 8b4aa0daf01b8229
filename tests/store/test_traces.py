"""Import of claude-trace and claude-tap: what they say, not how it was spelt."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Exchange, WebSocketMessage, header
from proxyaudit.store.read import kind_of, open_recording

BODY = {"model": "tern", "stream": True, "messages": [{"role": "user", "content": "é"}]}
RAW = b'{"model":"tern","stream":true,"messages":[{"role":"user","content":"\xc3\xa9"}]}'
SAID = {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
STREAM = 'event: ping\ndata: {"type": "ping"}\n\n'


def trace(**changes: Any) -> dict[str, Any]:
    """A line of claude-trace."""
    made: dict[str, Any] = {
        "request": {
            "timestamp": 1796040000.25,
            "method": "POST",
            "url": "https://api.test/v1/messages",
            "headers": {"content-type": "application/json", "x-api-key": "sk-ant-api...wxyz"},
            "body": BODY,
        },
        "response": {
            "timestamp": 1796040001.0,
            "status_code": 200,
            "headers": {"content-type": "text/event-stream", "content-encoding": "gzip"},
            "body_raw": STREAM,
        },
        "logged_at": "2026-11-30T12:00:02.250Z",
    }
    return {**made, **changes}


def tap(**changes: Any) -> dict[str, Any]:
    """A line of claude-tap."""
    made: dict[str, Any] = {
        "timestamp": "2026-11-30T12:00:02.250000+00:00",
        "request_id": "req_1",
        "turn": 1,
        "duration_ms": 2000,
        "request": {
            "method": "POST",
            "path": "/v1/messages?beta=true",
            "headers": {"content-type": "application/json"},
            "body": BODY,
        },
        "response": {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "body": SAID},
        "upstream_base_url": "https://api.test/",
    }
    return {**made, **changes}


def read(tmp_path: Path, *lines: Any) -> tuple[tuple[Exchange, ...], list[str]]:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    recording = open_recording(path)
    return recording.exchanges, [f"{flaw.where}: {flaw.message}" for flaw in recording.flaws]


def test_a_line_of_claude_trace(tmp_path: Path) -> None:
    (exchange,), flaws = read(tmp_path, trace())
    assert (exchange.id, exchange.tap, exchange.end) == ("e1", "client", "complete")
    assert (exchange.started_at, exchange.timed) == (1796040000.25, False)
    assert exchange.request.url == "https://api.test/v1/messages"
    assert exchange.request.body == RAW
    assert exchange.response
    assert exchange.response.body == STREAM.encode()
    assert exchange.response.ended_at == 2.0
    assert header(exchange.response.headers, "content-encoding") is None
    assert flaws == [
        "log.jsonl: 1 exchange with bodies stored as JSON values: their spelling is not evidence"
    ]


def test_a_request_that_claude_trace_saw_no_answer_to(tmp_path: Path) -> None:
    (exchange,), _ = read(tmp_path, trace(response=None, note="ORPHANED_REQUEST"))
    assert (exchange.response, exchange.end) == (None, "recorder_stopped")


def test_an_answer_whose_body_could_not_be_read(tmp_path: Path) -> None:
    told = {"timestamp": 1796040001.0, "status_code": 200, "headers": {}}
    (exchange,), flaws = read(tmp_path, trace(response=told))
    assert exchange.end == "recorder_stopped"
    assert (
        "log.jsonl: 1 exchange without the body of the reply: nothing follows from its absence"
        in flaws
    )


def test_a_line_of_claude_tap(tmp_path: Path) -> None:
    """Its time is that of the end; a stream is one reply there, which is told."""
    (exchange,), flaws = read(tmp_path, tap())
    assert (exchange.id, exchange.started_at) == ("req_1", 1796040000.25)
    assert exchange.request.url == "https://api.test/v1/messages?beta=true"
    assert exchange.request.body == RAW
    assert exchange.response
    assert json.loads(exchange.response.body) == SAID
    assert exchange.response.ended_at == 2.0
    assert flaws == [
        "log.jsonl: 1 exchange with a stream stored as one reply: what went on in the stream is not known",
        "log.jsonl: 1 exchange with bodies stored as JSON values: their spelling is not evidence",
    ]


def test_events_of_claude_tap_become_the_stream_again(tmp_path: Path) -> None:
    named = [{"event": "ping", "data": {"type": "ping"}}]
    bare = [{"event": "message", "data": {"choices": []}}, {"event": "message", "data": "torn {"}]
    (first, second), flaws = read(
        tmp_path,
        tap(response={**tap()["response"], "sse_events": named}),
        tap(response={**tap()["response"], "sse_events": bare}, request_id="req_2"),
    )
    assert first.response
    assert first.response.body == b'event: ping\ndata: {"type":"ping"}\n\n'
    assert second.response
    assert second.response.body == b'data: {"choices":[]}\n\ndata: torn {\n\ndata: [DONE]\n\n'
    assert any("it is assumed to have come" in flaw for flaw in flaws)


def test_a_websocket_of_claude_tap(tmp_path: Path) -> None:
    line = tap(
        transport="websocket",
        request={
            "method": "WEBSOCKET",
            "path": "/responses",
            "ws_events": [{"type": "response.create"}],
        },
        response={"status": 101, "headers": {}, "body": None, "ws_events": [{"raw": "?"}]},
    )
    (exchange,), _ = read(tmp_path, line)
    assert (exchange.request.method, exchange.end) == ("GET", "complete")
    assert exchange.websocket == (
        WebSocketMessage(0.0, "client", '{"type":"response.create"}'),
        WebSocketMessage(2.0, "server", "?"),
    )


def test_a_compact_bundle_of_claude_tap(tmp_path: Path) -> None:
    line = tap()
    ref = {"__claude_tap_blob_ref__": {"version": 1, "kind": "json", "hash": "sha256:1"}}
    lost = {"__claude_tap_blob_ref__": {"version": 1, "kind": "json", "hash": "sha256:2"}}
    packed = {**line, "request": {**line["request"], "body": {**BODY, "messages": [ref]}}}
    broken = {**line, "request": {**line["request"], "body": {**BODY, "messages": [lost]}}}
    bundle = {
        "__claude_tap_compact_trace__": {"version": 1},
        "records": [
            {"__claude_tap_compact_record__": {"version": 1}, "record": packed},
            {"__claude_tap_compact_record__": {"version": 1}, "record": broken},
        ],
        "blobs": {"sha256:1": {"kind": "json", "payload": {"role": "user", "content": "é"}}},
    }
    (exchange,), flaws = read(tmp_path, bundle)
    assert exchange.request.body == RAW
    assert "log.jsonl:record 2: not read: part 'sha256:2' is missing" in flaws


def test_an_id_that_comes_again_gets_a_fresh_one(tmp_path: Path) -> None:
    exchanges, _ = read(tmp_path, tap(), tap())
    assert [e.id for e in exchanges] == ["req_1", "req_1~2"]


@pytest.mark.parametrize("line", [trace(), tap()], ids=["claude-trace", "claude-tap"])
def test_a_torn_or_bad_line_costs_itself_only(tmp_path: Path, line: dict[str, Any]) -> None:
    path = tmp_path / "log.jsonl"
    good = json.dumps(line)
    path.write_text(f"{good}\nnot json\n\n[]\n{good[:-5]}")
    recording = open_recording(path)
    assert len(recording.exchanges) == 1
    told = [f"{flaw.where}: {flaw.message.partition(' (')[0]}" for flaw in recording.flaws]
    assert told[0] == "log.jsonl:2: not JSON"
    assert told[1].startswith("log.jsonl:4: not read: no request with a")
    assert told[2] == "log.jsonl:5: torn at its end"


def test_the_plain_form_is_not_taken_for_a_trace(tmp_path: Path) -> None:
    """It tolerates further keys, those of traces among them."""
    line = {
        "id": "1",
        "started_at": 1.0,
        "turn": 3,
        "timestamp": "2026-11-30T12:00:00Z",
        "request": {"method": "POST", "url": "http://a/", "path": "/", "timestamp": 3, "body": "x"},
    }
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(line))
    assert kind_of(path) == "lines"
    assert open_recording(path).exchanges[0].request.body == b"x"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("make", [trace, tap])
@given(junk=JUNK, key=st.integers(0, 30))
def test_any_value_in_any_place_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, make: Any, junk: Any, key: int
) -> None:
    """A first line that is good tells the shape; the second is odd."""
    line = make(response={**make()["response"], "sse_events": [{"event": "a", "data": {}}]})
    spots = [(line, k) for k in line]
    spots += [(line[side], k) for side in ("request", "response") for k in line[side]]
    holder, name = spots[key % len(spots)]
    holder[name] = junk
    path = tmp_path_factory.mktemp("t") / "log.jsonl"
    path.write_text(f"{json.dumps(make())}\n{json.dumps(line)}\n")
    recording = open_recording(path)
    unread = [flaw for flaw in recording.flaws if "not read" in flaw.message]
    assert len(recording.exchanges) + len(unread) == 2
