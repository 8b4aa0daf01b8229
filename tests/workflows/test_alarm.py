"""The user's command: what it gets, and what traffic cannot do to it."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proxyaudit.core.errors import UserError
from proxyaudit.core.finding import Finding, Place, Severity
from proxyaudit.engine.watch import Alert
from proxyaudit.workflows.alarm import AlarmCommand, command_words

HOSTILE = "lost $(touch owned) `touch owned`; touch owned \x1b]0;x\x07\0 end"
KEEP = """
import json, os, sys
said = {k: v for k, v in os.environ.items() if k.startswith("PROXYAUDIT_ALARM_")}
with open(sys.argv[1], "a") as file:
    file.write(json.dumps([json.load(sys.stdin), said, sys.argv[2:]]) + "\\n")
"""


def alert(message: str = HOSTILE, severity: Severity = "error", again: bool = False) -> Alert:
    place = Place("e-7", "client.request", "/messages")
    finding = Finding("message.dropped", severity, "proxy", message, (place,), evidence={"lost": 2})
    return Alert(finding, "c1", 5, again, early=True)


def run(
    words: list[str], *alerts: Alert, level: Severity = "warn", timeout: float = 20.0
) -> list[str]:
    """Give alarms to a command; what was said of its failures."""
    said: list[str] = []
    command = AlarmCommand(words, "recordings/x", level, said.append, timeout)
    for one in alerts:
        command.alerted(one)
    command.close()
    return said


def kept(tmp_path: Path, *alerts: Alert, level: Severity = "warn") -> list[Any]:
    """What a command got that writes down what it gets."""
    script, file = tmp_path / "keep.py", tmp_path / "kept"
    script.write_text(KEEP)
    line = f"{sys.executable} {script} {file} 'one word' $HOME"
    assert run(command_words(line), *alerts, level=level) == []
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_finding_comes_as_json_and_in_short(tmp_path: Path, monkeypatch: Any) -> None:
    """Nothing of it is in the command line, and nothing in it is run or obeyed."""
    monkeypatch.chdir(tmp_path)
    ((finding, short, arguments),) = kept(tmp_path, alert())
    assert arguments == ["one word", "$HOME"]
    assert finding["schema"] == "proxyaudit.alarm/1"
    assert (finding["message"], finding["evidence"]) == (HOSTILE, {"lost": 2})
    assert (finding["turn"], finding["before_reply"]) == (5, True)
    assert finding["places"] == [
        {"exchange": "e-7", "side": "client.request", "pointer": "/messages"}
    ]
    assert short == {
        "PROXYAUDIT_ALARM_RULE": "message.dropped",
        "PROXYAUDIT_ALARM_SEVERITY": "error",
        "PROXYAUDIT_ALARM_SUSPECT": "proxy",
        "PROXYAUDIT_ALARM_MESSAGE": (
            "lost $(touch owned) `touch owned`; touch owned \\x1b]0;x\\a\\x00 end"
        ),
        "PROXYAUDIT_ALARM_RECORDING": "recordings/x",
        "PROXYAUDIT_ALARM_EXCHANGE": "e-7",
        "PROXYAUDIT_ALARM_CONVERSATION": "c1",
        "PROXYAUDIT_ALARM_TURN": "5",
    }
    assert not (tmp_path / "owned").exists()


def test_which_alarms_it_is_run_for(tmp_path: Path) -> None:
    """In order, from its severity on, and once where a fault lasts."""
    alerts = (
        alert("one", "warn"),
        alert("two", "info"),
        alert("three"),
        alert("four", again=True),
    )
    assert [f["message"] for f, _, _ in kept(tmp_path, *alerts)] == ["one", "three"]
    (tmp_path / "kept").unlink()
    assert [f["message"] for f, _, _ in kept(tmp_path, *alerts, level="error")] == ["three"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["false"], "the alarm command ended with code 1"),
        (["/no/such/program"], "the alarm command cannot be run"),
    ],
)
def test_a_command_that_fails_is_said_once(words: list[str], problem: str) -> None:
    """One that does not read its input either."""
    (said,) = run(words, alert(), alert("x" * 1_000_000), alert())
    assert said.startswith(problem)


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    words = command_words(f"sh -c 'sleep 600 & echo $! > {mark}; wait'")
    (said,) = run(words, alert(), timeout=1.0)
    assert said == "the alarm command took longer than 1 s and was ended"
    _until(lambda: not _runs(int(mark.read_text())))


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        os.sched_yield()
    raise AssertionError("it did not come about")


@pytest.mark.parametrize("line", ["", "no-such-program-at-all --now", "sh -c 'open"])
def test_a_command_that_cannot_be_is_refused_at_once(line: str) -> None:
    with pytest.raises(UserError):
        command_words(line)
