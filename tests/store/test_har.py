"""Import of HAR files: as mitmproxy writes them itself, as browsers do, torn, and odd."""

import base64
import copy
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy.addons.savehar import SaveHar
from mitmproxy.flow import Error
from mitmproxy.http import Headers, HTTPFlow
from mitmproxy.test import tflow

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange, WebSocketMessage, header
from proxyaudit.store.har_entry import Entries
from proxyaudit.store.read import kind_of, open_recording
from proxyaudit.store.zstd import compressor

ASKED = b'{"model": "tern", "messages": [{"role": "user", "content": "na\xc3\xafve \\u00e9"}]}'
STREAM = b'data: {"a": 1}\n\ndata: [DONE]\n\n'


def entry(**changes: Any) -> dict[str, Any]:
    """An entry as a browser writes it; `request` and `response` are merged, the rest replaced."""
    made: dict[str, Any] = {
        "startedDateTime": "2026-11-30T12:00:00.250Z",
        "time": 1500.5,
        "connection": "443",
        "request": {
            "method": "POST",
            "url": "https://api.test/v1/chat/completions",
            "httpVersion": "h2",
            "headers": [
                {"name": ":method", "value": "POST"},
                {"name": "content-type", "value": "application/json"},
            ],
            "bodySize": len(ASKED),
            "postData": {"mimeType": "application/json", "text": ASKED.decode()},
        },
        "response": {
            "status": 200,
            "httpVersion": "h2",
            "headers": [{"name": "content-type", "value": "text/event-stream"}],
            "content": {
                "size": len(STREAM),
                "mimeType": "text/event-stream",
                "text": STREAM.decode(),
            },
        },
    }
    for side in ("request", "response"):
        made[side] |= changes.pop(side, {})
    return {**made, **changes}


def har(*entries: Any, indent: int | None = None) -> bytes:
    log = {"version": "1.2", "creator": {"name": "a browser"}, "entries": entries}
    return json.dumps({"log": log}, indent=indent).encode()


def read(tmp_path: Path, data: bytes) -> tuple[tuple[Exchange, ...], list[str]]:
    path = tmp_path / "a.har"
    path.write_bytes(data)
    recording = open_recording(path)
    return recording.exchanges, [f"{flaw.where}: {flaw.message}" for flaw in recording.flaws]


def one(tmp_path: Path, made: dict[str, Any]) -> tuple[Exchange, list[str]]:
    (exchange,), flaws = read(tmp_path, har(made))
    return exchange, flaws


def test_an_entry_of_a_browser(tmp_path: Path) -> None:
    """Bytes of bodies as sent; pseudo headers are no headers; only the whole time is known."""
    exchange, flaws = one(tmp_path, entry())
    assert flaws == []
    assert (exchange.id, exchange.tap, exchange.end) == ("e1", "client", "complete")
    assert exchange.started_at == 1796040000.25
    assert exchange.connection == "443"
    assert exchange.timed is False
    assert exchange.request.headers == (("content-type", "application/json"),)
    assert exchange.request.body == ASKED
    assert exchange.request.http_version == "HTTP/2.0"
    assert exchange.response
    assert exchange.response.body == STREAM
    assert exchange.response.ended_at == 1.5005


@pytest.mark.parametrize(
    "pack",
    [
        lambda data: data,
        lambda data: b"\xef\xbb\xbf  " + data,
        gzip.compress,
        zlib.compress,
        lambda data: compressor()(data),
    ],
    ids=["plain", "byte order mark", "gzip", "zhar", "zstd"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_har_file_is_known_by_its_content(tmp_path: Path, pack: Any, indent: int | None) -> None:
    path = tmp_path / "anything"
    path.write_bytes(pack(har(entry(), indent=indent)))
    assert kind_of(path) == "har"
    assert open_recording(path).exchanges[0].request.body == ASKED


def test_json_lines_with_a_key_named_log_are_no_har_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"log": {"level": "info"}, "id": "1"}\n')
    assert kind_of(path) == "lines"


def flow(body: bytes = STREAM, encoding: str = "") -> HTTPFlow:
    made = tflow.tflow(resp=True)
    made.request.method = "POST"
    made.request.headers = Headers(
        [(b"content-type", b"application/json"), (b"x-two", b"1"), (b"x-two", b"2")]
    )
    made.request.content = ASKED
    made.request.timestamp_start, made.request.timestamp_end = 1000.0, 1000.1
    # mitmproxy counts the time to connect as well; here the connection was there before.
    made.server_conn.timestamp_tcp_setup = None
    assert made.response
    made.response.headers = Headers([(b"content-type", b"text/event-stream; charset=utf-8")])
    if encoding:
        made.response.headers["content-encoding"] = encoding
    made.response.content = body
    made.response.timestamp_start, made.response.timestamp_end = 1000.5, 1002.0
    return made


def of_mitmproxy(*flows: HTTPFlow) -> bytes:
    return json.dumps(SaveHar().make_har(list(flows)), indent=4).encode()


def test_what_mitmproxy_writes_itself(tmp_path: Path) -> None:
    made = flow()
    (exchange,), flaws = read(tmp_path, of_mitmproxy(made))
    assert flaws == []
    assert exchange.request.url == made.request.url
    assert exchange.request.body == ASKED
    assert [v for n, v in exchange.request.headers if n == "x-two"] == ["1", "2"]
    assert exchange.response
    assert exchange.response.body == STREAM
    assert exchange.response.ended_at == pytest.approx(2.0)
    assert exchange.end == "complete"


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_a_decoded_body_loses_the_header_that_said_how_it_was_encoded(
    tmp_path: Path, encoding: str
) -> None:
    """Kept, it would make every body look damaged. That it was left out is told, once."""
    made = [flow(encoding=encoding), flow(encoding=encoding)]
    exchanges, flaws = read(tmp_path, of_mitmproxy(*made))
    for exchange in exchanges:
        assert exchange.response
        assert exchange.response.body == STREAM
        assert header(exchange.response.headers, "content-encoding") is None
        assert header(exchange.response.headers, "content-length") is None
    assert flaws == [
        "a.har: 2 entries with a body stored decoded: content-encoding and content-length were left out"
    ]


def test_a_body_that_is_stored_as_it_was_encoded_keeps_its_header(tmp_path: Path) -> None:
    packed = base64.b64encode(gzip.compress(STREAM)).decode()
    content = {"size": len(STREAM), "text": packed, "encoding": "base64", "mimeType": "x"}
    headers = [{"name": "Content-Encoding", "value": "gzip"}]
    exchange, flaws = one(tmp_path, entry(response={"headers": headers, "content": content}))
    assert exchange.response
    assert gzip.decompress(exchange.response.body) == STREAM
    assert header(exchange.response.headers, "content-encoding") == "gzip"
    assert flaws == []


def test_bytes_that_are_no_text_survive_as_base64_and_as_surrogates(tmp_path: Path) -> None:
    raw = b"data: \xff\xfe\n\n"
    stored: list[dict[str, Any]] = [
        {"text": base64.b64encode(raw).decode(), "encoding": "base64"},
        {"text": raw.decode("utf-8", "surrogateescape")},
    ]
    exchanges, _ = read(tmp_path, har(*(entry(response={"content": c}) for c in stored)))
    assert [e.response.body for e in exchanges if e.response] == [raw, raw]


def test_a_broken_off_flow_of_mitmproxy_has_no_answer(tmp_path: Path) -> None:
    made = flow()
    made.response, made.error = None, Error("server closed connection")
    (exchange,), _ = read(tmp_path, of_mitmproxy(made))
    assert exchange.response is None
    assert (exchange.end, exchange.error) == ("upstream_eof", "server closed connection")


@pytest.mark.parametrize(
    ("error", "end"),
    [
        ("net::ERR_ABORTED", "client_abort"),
        ("net::ERR_CONNECTION_REFUSED", "upstream_refused"),
        ("net::ERR_CONNECTION_RESET", "upstream_reset"),
        ("net::ERR_INCOMPLETE_CHUNKED_ENCODING", "upstream_eof"),
        ("net::ERR_TIMED_OUT", "timeout"),
        ("", "recorder_stopped"),
    ],
)
def test_errors_of_browsers_tell_the_end(tmp_path: Path, error: str, end: str) -> None:
    exchange, _ = one(tmp_path, entry(response={"status": 0, "_error": error}))
    assert (exchange.response, exchange.end) == (None, end)


@pytest.mark.parametrize(
    "content",
    [
        {"size": 0, "mimeType": "text/event-stream"},
        {"size": 0, "mimeType": "text/event-stream", "text": ""},
        {"size": 90, "mimeType": "application/json"},
    ],
    ids=["chrome", "mitmproxy", "firefox"],
)
def test_a_body_that_was_not_kept_is_not_taken_for_an_empty_one(
    tmp_path: Path, content: dict[str, Any]
) -> None:
    exchange, flaws = one(tmp_path, entry(response={"content": content}))
    assert exchange.response
    assert exchange.end == "recorder_stopped"
    assert exchange.error == "the file holds no body of this reply"
    assert flaws == [
        "a.har: 1 entry without the body of the reply: nothing follows from its absence"
    ]


def test_a_body_that_was_kept_in_part_is_told(tmp_path: Path) -> None:
    """Browsers cut long bodies; that is not the server's doing."""
    content = {"size": 5000, "mimeType": "text/event-stream", "text": STREAM.decode()}
    exchange, flaws = one(tmp_path, entry(response={"content": content}))
    assert exchange.end == "recorder_stopped"
    assert exchange.error == f"the file holds {len(STREAM)} of 5000 bytes of this reply"
    assert flaws == ["a.har: 1 entry with only a part of the body of the reply"]


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_that_has_no_body_is_whole(tmp_path: Path, status: int) -> None:
    exchange, flaws = one(tmp_path, entry(response={"status": status, "content": {"size": 0}}))
    assert (exchange.end, flaws) == ("complete", [])


def test_a_request_without_its_body_is_told(tmp_path: Path) -> None:
    made = entry()
    del made["request"]["postData"]
    exchange, flaws = one(tmp_path, made)
    assert exchange.request.body == b""
    assert flaws == ["a.har: 1 entry without the body of the request"]


def test_parameters_are_a_form(tmp_path: Path) -> None:
    posted = {"params": [{"name": "a b", "value": "1&2"}, {"name": "c", "value": "é"}]}
    exchange, _ = one(tmp_path, entry(request={"postData": posted}))
    assert exchange.request.body == b"a+b=1%262&c=%C3%A9"


def test_events_that_the_browser_listed_stand_for_the_stream(tmp_path: Path) -> None:
    events = [
        {"eventName": "message", "data": '{"a": 1}'},
        {"eventName": "ping", "data": "one\ntwo"},
        {"eventName": "message", "data": "[DONE]"},
    ]
    content = {"size": 0, "mimeType": "text/event-stream"}
    exchange, flaws = one(
        tmp_path, entry(_eventSourceMessages=events, response={"content": content})
    )
    assert exchange.response
    assert exchange.response.body == (
        b'data: {"a": 1}\n\nevent: ping\ndata: one\ndata: two\n\ndata: [DONE]\n\n'
    )
    assert exchange.end == "complete"
    assert len(flaws) == 1


def test_websocket_messages_are_read(tmp_path: Path) -> None:
    start = 1796040000.25
    messages = [
        {"type": "send", "time": start + 1, "opcode": 1, "data": "hello"},
        {
            "type": "receive",
            "time": start + 2,
            "opcode": 2,
            "data": base64.b64encode(b"\xff").decode(),
        },
        {"type": "receive", "time": start + 3, "opcode": 8, "data": ""},
        {"type": "nonsense", "data": "x"},
        "nonsense",
    ]
    response = {"status": 101, "content": {}}
    exchange, _ = one(tmp_path, entry(_webSocketMessages=messages, response=response))
    assert exchange.websocket == (
        WebSocketMessage(1.0, "client", "hello"),
        WebSocketMessage(2.0, "server", b"\xff"),
    )
    assert exchange.end == "complete"


def test_an_entry_without_a_time_stays_behind_the_one_before(tmp_path: Path) -> None:
    second = entry(startedDateTime="yesterday")
    exchanges, flaws = read(tmp_path, har(entry(), second))
    assert exchanges[0].started_at == exchanges[1].started_at
    assert [e.id for e in exchanges] == ["e1", "e2"]
    assert flaws == ["a.har: 1 entry without a start time: placed after the one before"]


def test_an_entry_that_cannot_be_read_costs_itself_only(tmp_path: Path) -> None:
    deep = '{"request": ' + '{"a":' * 200_000 + "1" + "}" * 200_000 + "}"
    data = har("DEEP", {"request": {"url": "x"}}, entry()).replace(b'"DEEP"', deep.encode())
    exchanges, flaws = read(tmp_path, data)
    assert [e.id for e in exchanges] == ["e3"]
    assert flaws == [
        "a.har:entry 1: not read: nested too deeply",
        "a.har:entry 2: not read: no request with a method and a URL",
    ]


def test_a_torn_file_keeps_its_whole_entries(tmp_path: Path) -> None:
    whole = har(entry(), entry(), indent=1)
    exchanges, flaws = read(tmp_path, whole[:-400])
    assert len(exchanges) == 1
    assert flaws == ["a.har: torn at its end: the last entry is not whole"]


def test_a_torn_compressed_file_keeps_its_whole_entries(tmp_path: Path) -> None:
    packed = gzip.compress(
        har(*(entry(_no=base64.b85encode(str(i).encode() * 40).decode()) for i in range(50)))
    )
    exchanges, flaws = read(tmp_path, packed[:-200])
    assert 0 < len(exchanges) < 50
    assert any("torn" in flaw for flaw in flaws)


def test_a_file_without_entries_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no exchange"):
        read(tmp_path, har())


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a JSON value."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [here, *(place for key, item in inner for place in places(item, (*here, key)))]


@given(data=st.data(), junk=JUNK)
def test_any_value_in_any_place_is_read_or_refused_in_words(data: st.DataObject, junk: Any) -> None:
    made = entry(
        _webSocketMessages=[{"type": "send", "time": 1, "opcode": 2, "data": "AA=="}],
        _eventSourceMessages=[{"eventName": "a", "data": "b"}],
    )
    made["request"]["postData"]["params"] = [{"name": "a", "value": "b"}]
    made["response"]["content"]["encoding"] = "base64"
    made = copy.deepcopy(made)
    place = data.draw(st.sampled_from(places(made)[1:]))
    inner = made
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = junk
    refused = ""
    try:
        Entries().exchange(made, "e1")
    except ValueError as error:
        refused = str(error)
    assert refused in ("", "no request with a method and a URL")


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_tail_of_a_har_file_gives_flaws_not_exceptions(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("har") / "a.har"
    path.write_bytes(har(entry())[:-3] + tail)
    assert open_recording(path).exchanges[0].id == "e1"
