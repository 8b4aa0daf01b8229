"""`proxyaudit audit` as a user meets it: output, exit codes, messages."""

import json
from pathlib import Path

import pytest
from chat_lines import clean, editing_harness, forgetful_proxy, write
from inline_snapshot import snapshot

from proxyaudit.cli.main import run


def _audit(*arguments: object) -> int:
    return run(["audit", *map(str, arguments)])


def test_the_proxy_is_named_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict is the first line, with suspect and turn."""
    recording = write(tmp_path / "lost.jsonl", *forgetful_proxy())
    assert _audit(recording) == 1
    assert capsys.readouterr().out.splitlines()[0] == snapshot(
        "✗ The proxy lost 2 of 4 messages between the taps at turn 2."
    )


def test_clean_traffic_exits_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _audit(write(tmp_path / "clean.jsonl", *clean())) == 0
    assert capsys.readouterr().out.splitlines()[0] == snapshot(
        "✓ No context was lost: 2 turns of 1 conversation seen at one tap."
    )


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warn", 1), ("info", 1), ("never", 0)])
def test_fail_on_decides_from_which_severity_on(tmp_path: Path, level: str, code: int) -> None:
    """The recording holds a warning and no error."""
    recording = write(tmp_path / "edited.jsonl", *editing_harness())
    assert _audit(recording, "--select", "message.rewritten", "--fail-on", level) == code


def test_select_and_ignore_choose_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = write(tmp_path / "edited.jsonl", *editing_harness())
    assert _audit(recording, "--select", "tools,stream") == 0
    assert _audit(recording, "--select", "message", "--ignore", "message.rewritten") == 0
    capsys.readouterr()
    assert _audit(recording, "--select", "history", "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)["reports"][0]
    names = {entry["rule"] for entry in report["checked"]}
    assert "message.rewritten" in names
    assert not any(name.startswith("stream.") for name in names)


def test_an_unknown_rule_is_answered_with_the_closest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _audit("nothing.jsonl", "--select", "mesage.droped") == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "no rule or family 'mesage.droped'" in told.err
    assert "did you mean message.dropped" in told.err


@pytest.mark.parametrize("fact", ["reasoning_echo=never", "weather=fine", "model_aliases=x"])
def test_an_unknown_fact_is_refused(fact: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _audit("nothing.jsonl", "--assume", fact) == 2
    assert "hint:" in capsys.readouterr().err


def test_one_report_for_each_input_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken input gets an inconclusive report and exit code 2; the others keep theirs."""
    edited = write(tmp_path / "edited.jsonl", *editing_harness())
    broken = tmp_path / "broken.jsonl"
    broken.write_text("not json\n", encoding="utf-8")
    whole = write(tmp_path / "clean.jsonl", *clean())
    assert _audit(edited, broken, whole, "--format", "json") == 2
    reports = json.loads(capsys.readouterr().out)["reports"]
    assert [r["verdict"] for r in reports] == ["findings", "inconclusive", "clean"]
    assert [r["target"] for r in reports] == [str(edited), str(broken), str(whole)]
    assert reports[1]["flaws"]


def test_a_single_input_that_is_missing_is_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _audit("nowhere", "--recordings", tmp_path) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "there is no recording 'nowhere'" in told.err


def test_latest_and_names_are_found_under_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "only.jsonl", *clean())
    assert _audit("latest", "--recordings", tmp_path) == 0
    assert _audit("only", "--recordings", tmp_path) == 0
    assert "only.jsonl" in capsys.readouterr().out


def test_traffic_without_any_model_is_inconclusive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = clean()[0]
    line["request"] |= {"method": "GET", "url": "http://proxy.test/health", "body": ""}
    assert _audit(write(tmp_path / "health.jsonl", line)) == 2
    assert capsys.readouterr().out.startswith("? Nothing could be judged")


def test_output_goes_to_a_file_and_the_verdict_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = write(tmp_path / "clean.jsonl", *clean())
    report = tmp_path / "report.txt"
    assert _audit(recording, "--output", report) == 0
    assert report.read_text(encoding="utf-8").startswith("✓ No context was lost")
    told = capsys.readouterr()
    assert told.out == ""
    assert "No context was lost" in told.err
    assert _audit(recording, "--output", tmp_path / "no" / "such" / "folder") == 2
    assert "cannot write" in capsys.readouterr().err


def test_escape_sequences_in_traffic_stay_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither text nor JSON passes them on."""
    recording = write(tmp_path / "evil.jsonl", *editing_harness("My name is \x1b[2J\x9b Bob"))
    for form in ("text", "json"):
        assert _audit(recording, "--format", form) == 1
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "\x9b" not in out
        assert "Bob" in out


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_report_never_replaces_its_recording(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not by path, by name or by a link; and no report goes into a recording's folder."""
    recording = write(tmp_path / "clean.jsonl", *clean())
    held = recording.read_bytes()
    link = tmp_path / "report.txt"
    link.symlink_to(recording)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "meta.json").write_text("{}")
    root = ("--recordings", tmp_path, "--format", form)
    for target, output in (
        (recording, recording),
        ("clean", recording),
        (recording, link),
        (recording, folder / "exchanges-0001.jsonl.zst"),
    ):
        assert _audit(target, "--output", output, *root) == 2
        assert "choose another --output" in capsys.readouterr().err
    assert _audit("none-such", recording, "--output", recording, *root) == 2
    assert recording.read_bytes() == held
    assert [path.name for path in folder.iterdir()] == ["meta.json"]
    assert _audit(recording, "--output", tmp_path / "other.txt", *root) == 0
