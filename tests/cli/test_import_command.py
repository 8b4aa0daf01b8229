"""`import`, word for word, and what an audit says of an imported recording."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from chat_lines import clean, forgetful_proxy, write
from inline_snapshot import snapshot
from mitmproxy.http import HTTPFlow
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow

from proxyaudit.cli.main import run
from proxyaudit.store.read import open_recording

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entry(line: dict[str, Any]) -> dict[str, Any]:
    """An exchange of the plain form as an entry of a HAR file."""
    from datetime import UTC, datetime

    asked, told = line["request"], line["response"]
    return {
        "startedDateTime": datetime.fromtimestamp(line["started_at"], UTC).isoformat(),
        "time": 250,
        "request": {
            "method": asked["method"],
            "url": asked["url"],
            "headers": [{"name": n, "value": v} for n, v in asked["headers"]],
            "postData": {"text": asked["body"]},
        },
        "response": {
            "status": told["status"],
            "headers": [{"name": "content-encoding", "value": "gzip"}],
            "content": {"size": len(told["body"]), "text": told["body"]},
        },
    }


def har(path: Path, *entries: Any) -> Path:
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}), "utf-8")
    return path


def traced(line: dict[str, Any]) -> dict[str, Any]:
    """An exchange of the plain form as a line of claude-trace."""
    asked, told = line["request"], line["response"]
    body = json.loads(asked["body"])
    request = {**asked, "timestamp": line["started_at"], "headers": dict(asked["headers"])}
    answer = {"status_code": 200, "headers": {}, "body": json.loads(told["body"])}
    return {"request": {**request, "body": body}, "response": answer}


def test_a_har_file_becomes_a_recording(folder: Path, capsys: Capture) -> None:
    page = {"request": {"method": "GET", "url": "http://proxy.test/"}, "response": {"status": 404}}
    har(folder / "session.har", *map(entry, clean()), page, {"request": {}}, "odd")
    assert run(["import", "session.har"]) == 0
    assert capsys.readouterr().out == snapshot("""\
session.har: HAR, 3 exchanges of the client tap, 2 turns
  1  no turn: GET asks nothing of a model
  1  not read: no request with a method and a URL (session.har:entry 4)
  2 entries with a body stored decoded: content-encoding and content-length were left out
  1 entry without a start time: placed after the one before

Written to recordings/session, keys and cookies hidden.

Next:
  proxyaudit audit recordings/session
  proxyaudit show recordings/session
""")


def test_keys_do_not_get_into_the_recording(folder: Path) -> None:
    har(folder / "session.har", *map(entry, clean()))
    assert run(["import", "session.har"]) == 0
    for exchange in open_recording(folder / "recordings" / "session").exchanges:
        assert "sk-secret" not in repr(exchange.request.headers)
        assert "[redacted sha256:" in repr(exchange.request.headers)


def test_two_files_become_two_taps_and_the_audit_names_the_proxy(
    folder: Path, capsys: Capture
) -> None:
    """The same verdict as on the recording that the files were made from."""
    lines = forgetful_proxy()
    har(folder / "client.har", *(entry(each) for each in lines if each["tap"] == "client"))
    har(folder / "upstream.har", *(entry(each) for each in lines if each["tap"] == "upstream"))
    assert run(["import", "client.har", "--upstream", "upstream.har", "--name", "both"]) == 0
    assert capsys.readouterr().out == snapshot("""\
client.har: HAR, 3 exchanges of the client tap, 3 turns
  3 entries with a body stored decoded: content-encoding and content-length were left out
upstream.har: HAR, 3 exchanges of the upstream tap, 3 turns
  3 entries with a body stored decoded: content-encoding and content-length were left out

Written to recordings/both, keys and cookies hidden.

Next:
  proxyaudit audit recordings/both
  proxyaudit show recordings/both
""")
    assert run(["audit", "both", "--format", "json"]) == 1
    (imported,) = json.loads(capsys.readouterr().out)["reports"]
    write(folder / "original.jsonl", *lines)
    assert run(["audit", "original.jsonl", "--format", "json"]) == 1
    (original,) = json.loads(capsys.readouterr().out)["reports"]
    assert imported["headline"] == original["headline"]
    told = [[f["rule"] for f in report["findings"]] for report in (imported, original)]
    assert told[0] == told[1]


@pytest.mark.parametrize("form", ["har", "claude-trace", "plain", "flow"])
def test_a_clean_conversation_stays_clean_in_every_form(
    folder: Path, capsys: Capture, form: str
) -> None:
    """What a format lacks (times, encodings, spelling) alarms nobody."""
    path = folder / "it"
    match form:
        case "har":
            har(path, *map(entry, clean()))
        case "claude-trace":
            path.write_text("".join(json.dumps(traced(each)) + "\n" for each in clean()))
        case "plain":
            write(path, *({**each, "more": {"of": "it"}} for each in clean()))
        case _:
            path.write_bytes(flows(clean()))
    assert run(["import", "it", "--name", "r"]) == 0
    assert run(["audit", "r", "--fail-on", "info"]) == 0
    assert run(["audit", "it", "--fail-on", "info"]) == 0
    capsys.readouterr()


def flows(lines: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    writer = FlowWriter(file)
    for each in lines:
        made: HTTPFlow = tflow.tflow(resp=True)
        made.request.url = each["request"]["url"]
        made.request.method = "POST"
        made.request.content = each["request"]["body"].encode()
        made.request.timestamp_start = each["started_at"]
        assert made.response
        made.response.content = each["response"]["body"].encode()
        writer.add(made)
    return file.getvalue()


def test_a_tap_can_be_given(folder: Path, capsys: Capture) -> None:
    har(folder / "session.har", *map(entry, clean()))
    assert run(["import", "session.har", "--tap", "upstream"]) == 0
    assert {e.tap for e in open_recording(folder / "recordings" / "session").exchanges} == {
        "upstream"
    }
    assert "2 exchanges of the upstream tap" in capsys.readouterr().out


def test_an_own_recording_keeps_its_taps_and_facts(folder: Path, capsys: Capture) -> None:
    path = folder / "mine.jsonl"
    write(path, {"format": "proxyaudit.recording/1", "assume": {"reasoning_echo": "always"}})
    with path.open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in forgetful_proxy())
    assert run(["import", "mine.jsonl"]) == 0
    made = open_recording(folder / "recordings" / "mine")
    assert made.assume.reasoning_echo == "always"
    assert {e.tap for e in made.exchanges} == {"client", "upstream"}
    assert "of the client and the upstream taps" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_does_not_cost_the_others(folder: Path, capsys: Capture) -> None:
    har(folder / "good.har", *map(entry, clean()))
    (folder / "bad.har").write_text("<html>")
    assert run(["import", "good.har", "bad.har", "missing.har"]) == 2
    assert capsys.readouterr().out == snapshot("""\
good.har: HAR, 2 exchanges of the client tap, 2 turns
  2 entries with a body stored decoded: content-encoding and content-length were left out
bad.har: not read: bad.har is no recording (a recording is a folder, a .jsonl or .jsonl.zst file, a
mitmproxy .flow file, a .har file, or a trace of claude-trace or claude-tap)
missing.har: not read: missing.har does not exist (`proxyaudit list` shows what there is)

Written to recordings/good, keys and cookies hidden.

Next:
  proxyaudit audit recordings/good
  proxyaudit show recordings/good
""")


def test_nothing_to_read_writes_nothing(folder: Path, capsys: Capture) -> None:
    har(folder / "empty.har")
    assert run(["import", "empty.har"]) == 2
    assert "holds no exchange" in capsys.readouterr().err
    assert not (folder / "recordings").exists()


def test_a_name_that_is_taken_is_told_and_a_default_name_is_numbered(
    folder: Path, capsys: Capture
) -> None:
    har(folder / "session.har", *map(entry, clean()))
    assert run(["import", "session.har"]) == 0
    assert run(["import", "session.har"]) == 0
    assert (folder / "recordings" / "session-2").is_dir()
    assert run(["import", "session.har", "--name", "session"]) == 2
    assert "exists" in capsys.readouterr().err


def test_what_the_files_lacked_is_told_by_later_audits_too(folder: Path, capsys: Capture) -> None:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(traced(each)) + "\n" for each in clean()))
    assert run(["import", "log.jsonl"]) == 0
    capsys.readouterr()
    assert run(["audit", "log"]) == 0
    assert "their spelling is not evidence" in capsys.readouterr().out
    (meta,) = (folder / "recordings" / "log").glob("meta*")
    assert meta.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [{"size": 0}, {"size": 99999, "text": 'data: {"choices": []}'}])
def test_a_stream_that_the_browser_did_not_keep_is_nobodys_fault(
    folder: Path, capsys: Capture, content: dict[str, Any]
) -> None:
    """A body that is missing, or cut, in the file says nothing about the server."""
    made = [entry(each) for each in clean()]
    for each in made:
        each["response"]["content"] = {"mimeType": "text/event-stream", **content}
        each["response"]["headers"] = [{"name": "content-type", "value": "text/event-stream"}]
        asked = json.loads(each["request"]["postData"]["text"])
        each["request"]["postData"]["text"] = json.dumps({**asked, "stream": True})
    har(folder / "session.har", *made)
    assert run(["audit", "session.har", "--fail-on", "info"]) == 0
    capsys.readouterr()


def test_a_har_file_can_be_audited_as_it_is(folder: Path, capsys: Capture) -> None:
    har(folder / "session.har", *map(entry, clean()))
    assert run(["audit", "session.har"]) == 0
    assert "2 entries with a body stored decoded" in capsys.readouterr().out


def test_a_stream_that_mitmproxy_did_not_keep_is_nobodys_fault(
    folder: Path, capsys: Capture
) -> None:
    """As it does by default where it streams: the reply is told as missing, not as broken off."""
    made: HTTPFlow = tflow.tflow(resp=True)
    made.request.method, made.request.url = "POST", "http://proxy.test/v1/chat/completions"
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    made.request.content = json.dumps(asked).encode()
    assert made.response
    made.response.headers["content-type"] = "text/event-stream"
    made.response.raw_content = None
    file = io.BytesIO()
    FlowWriter(file).add(made)
    (folder / "a.flow").write_bytes(file.getvalue())
    assert run(["audit", "a.flow", "--fail-on", "info", "--format", "json"]) in (0, 2)
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert report["findings"] == []
    assert any("holds no body of this response" in flaw for flaw in report["flaws"])
