"""Import of mitmproxy flow files, made here by mitmproxy itself."""

import io
from pathlib import Path
from typing import Any

import pytest
from mitmproxy.flow import Error, Flow
from mitmproxy.http import Headers, HTTPFlow
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow
from mitmproxy.websocket import WebSocketData

from proxyaudit.core.exchange import End, header
from proxyaudit.store.endings import end_of_error
from proxyaudit.store.flow import end_of_websocket, read_flows
from proxyaudit.store.read import open_recording

CAPTURES = Path(__file__).parents[3] / "shared" / "captures"


def http_flow(**changes: Any) -> HTTPFlow:
    made = tflow.tflow(**{"resp": True, **changes})
    made.request.timestamp_start = 1000.0
    if made.response:
        made.response.timestamp_end = 1002.5
    return made


def packed(*flows: Flow) -> bytes:
    file = io.BytesIO()
    writer = FlowWriter(file)
    for each in flows:
        writer.add(each)
    return file.getvalue()


def test_a_flow_is_an_exchange_without_times(tmp_path: Path) -> None:
    """The body stays as on the wire: a content encoding is evidence, not ours to undo."""
    made = http_flow()
    assert made.response
    made.request.headers = Headers([(b"X-Odd", b"caf\xe9"), (b"x-odd", b"2")])
    made.response.headers["content-encoding"] = "gzip"
    made.response.raw_content = b"\x1f\x8b\x08 not even gzip"
    path = tmp_path / "a.flow"
    path.write_bytes(packed(made))
    ((one,), flaws) = read_flows(path)
    assert flaws == ()
    assert one.response
    assert (one.id, one.tap, one.started_at) == (made.id, "client", 1000.0)
    assert one.connection == made.client_conn.id
    assert one.request.url == made.request.url
    assert one.request.headers == (("X-Odd", "caf\udce9"), ("x-odd", "2"))
    assert one.request.body == b"content"
    assert one.response.body == b"\x1f\x8b\x08 not even gzip"
    assert header(one.response.headers, "content-encoding") == "gzip"
    assert one.response.ended_at == 2.5
    assert one.response.chunks == ()
    assert one.timed is False
    assert one.end == "complete"
    assert read_flows(path, "upstream")[0][0].tap == "upstream"


def test_a_torn_file_keeps_its_good_flows(tmp_path: Path) -> None:
    """Cut anywhere in the second flow: the first is there, and the tear is told."""
    first, second = packed(http_flow()), packed(http_flow())
    path = tmp_path / "a.flow"
    for cut in (1, 4, len(second) // 2, len(second) - 1):
        path.write_bytes(first + second[:cut])
        recording = open_recording(path)
        assert len(recording.exchanges) == 1
        (flaw,) = recording.flaws
        assert flaw.where == "a.flow:flow 2"


def test_garbage_after_a_flow_is_a_flaw(tmp_path: Path) -> None:
    """An absurd length must not ask for as much memory."""
    path = tmp_path / "a.flow"
    path.write_bytes(packed(http_flow()) + b"999999999999:x")
    exchanges, flaws = read_flows(path)
    assert len(exchanges) == 1
    assert len(flaws) == 1


def test_flows_that_are_not_http_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.flow"
    path.write_bytes(packed(tflow.ttcpflow(), http_flow(), tflow.tudpflow()))
    exchanges, (flaw,) = read_flows(path)
    assert len(exchanges) == 1
    assert "2 flows are not HTTP" in flaw.message


def test_a_body_that_mitmproxy_did_not_keep_is_told(tmp_path: Path) -> None:
    """Streamed without being stored: an empty body would look like an empty answer."""
    made = http_flow()
    assert made.response
    made.response.raw_content = None
    path = tmp_path / "a.flow"
    path.write_bytes(packed(made))
    (one,), (flaw,) = read_flows(path)
    assert one.end == "recorder_stopped"
    assert "holds no body of this response" in (one.error or "")
    assert flaw.where == "a.flow:flow 1"


def test_a_flow_without_answer_or_error_was_still_under_way(tmp_path: Path) -> None:
    path = tmp_path / "a.flow"
    path.write_bytes(packed(http_flow(resp=False)))
    (one,), _ = read_flows(path)
    assert (one.end, one.response) == ("recorder_stopped", None)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Client disconnected.", "client_abort"),
        ("stream reset by client (CANCEL)", "client_abort"),
        (
            "HTTP/1 protocol error: peer closed connection without sending complete message body"
            " (incomplete chunked read)",
            "upstream_eof",
        ),
        ("server closed connection", "upstream_eof"),
        ("[Errno 111] Connect call failed ('127.0.0.1', 9)", "upstream_refused"),
        ("[Errno -2] Name or service not known", "upstream_refused"),
        ("stream reset by server (INTERNAL_ERROR)", "upstream_reset"),
        ("[Errno 104] Connection reset by peer", "upstream_reset"),
        ("[Errno 110] Connection timed out", "timeout"),
        ("Connection killed.", "error"),
        ("Certificate verify failed: self-signed certificate", "error"),
        ("", "error"),
    ],
)
def test_error_texts_tell_how_it_ended(text: str, end: End, tmp_path: Path) -> None:
    assert end_of_error(text) == end
    made = http_flow()
    made.error = Error(text, 1001.0)
    path = tmp_path / "a.flow"
    path.write_bytes(packed(made))
    (one,), _ = read_flows(path)
    assert (one.end, one.error) == (end, text)


def test_a_reply_that_broke_off_ends_with_its_error(tmp_path: Path) -> None:
    made = http_flow()
    assert made.response
    made.response.timestamp_end = made.response.raw_content = None
    made.error = Error("server closed connection", 1001.0)
    path = tmp_path / "a.flow"
    path.write_bytes(packed(made))
    (one,), flaws = read_flows(path)
    assert one.response
    assert one.response.ended_at == 1.0
    assert flaws == ()


def test_websocket_messages_are_kept_with_their_senders(tmp_path: Path) -> None:
    made = tflow.twebsocketflow()
    path = tmp_path / "a.flow"
    path.write_bytes(packed(made))
    (one,), _ = read_flows(path)
    assert one.websocket
    assert [(m.sender, m.data) for m in one.websocket] == [
        ("client", b"hello binary"),
        ("client", "hello text"),
        ("server", "it's me"),
    ]
    assert one.end == "complete"


@pytest.mark.parametrize(
    ("by_client", "code", "end"),
    [
        (None, None, "recorder_stopped"),
        (True, 1006, "complete"),
        (False, 1000, "complete"),
        (False, 1006, "upstream_eof"),
    ],
)
def test_how_a_websocket_ended(by_client: bool | None, code: int | None, end: End) -> None:
    assert end_of_websocket(WebSocketData(closed_by_client=by_client, close_code=code)) == end


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="no captures of real clients here")
def test_captures_of_real_clients_are_read_whole() -> None:
    """Every flow with a request, no flaw, and a reply body unless it broke off."""
    paths = sorted(CAPTURES.glob("*.flow"))
    assert paths
    for path in paths:
        recording = open_recording(path)
        assert recording.flaws == (), path.name
        for one in recording.exchanges:
            assert one.end in {"complete", "client_abort", "upstream_eof"}
            assert one.response is not None
            assert one.websocket or one.response.body or one.end != "complete"
