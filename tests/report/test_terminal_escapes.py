"""No escape sequence of traffic reaches a terminal, wherever in a request or a reply it stands."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_lines import EPOCH, write

from proxyaudit.cli.main import run
from proxyaudit.report.safe import is_harmful

# Clear the screen, set the title, write right to left, and a C1 control.
EVIL = "\x1b[2J\x1b]0;evil\x07\u202e\x9b1m"


def _evil(word: str) -> str:
    return f"{word}{EVIL}"


def _call(number: int) -> dict[str, Any]:
    function = {"name": _evil("look"), "arguments": json.dumps({_evil("key"): _evil("value")})}
    return {"id": _evil(f"call{number}"), "type": "function", "function": function}


def _first() -> list[dict[str, Any]]:
    return [
        {"role": _evil("wizard"), "content": _evil("be brief")},
        {"role": "user", "content": _evil("hello"), "name": _evil("bob")},
    ]


def _reply(text: str) -> dict[str, Any]:
    return {
        "role": _evil("helper"),
        "content": _evil(text),
        "reasoning_content": _evil("hm"),
        "tool_calls": [_call(1)],
    }


def _second(first: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answered = {"role": "tool", "tool_call_id": _evil("call1"), "content": _evil("result")}
    return [*first, _reply("looking"), answered, {"role": _evil("asker"), "content": "go on"}]


def _line(id_: str, tap: str, at: float, messages: list[dict[str, Any]]) -> dict[str, Any]:
    headers = [["content-type", "application/json"], [_evil("x-name"), _evil("value")]]
    tool = {"type": "function", "function": {"name": _evil("look"), "parameters": {}}}
    asked = {"model": _evil("tern"), _evil("setting"): _evil("value"), "temperature": _evil("hot")}
    choice = {"index": 0, "message": _reply("looking"), "finish_reason": _evil("stop")}
    answer = {"id": _evil("r"), "model": _evil("heron"), "choices": [choice]}
    return {
        "id": _evil(id_),
        "tap": tap,
        "started_at": EPOCH + at,
        "connection": _evil("c"),
        "request": {
            "method": "POST",
            "url": f"http://host.test/v1/chat/completions?{_evil('q')}",
            "headers": headers,
            "body": json.dumps({**asked, "messages": messages, "tools": [tool]}),
        },
        "response": {"status": 200, "headers": headers, "body": json.dumps(answer)},
        "end": "error",
        "error": _evil("broken"),
    }


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two turns at both taps, all of it with escapes; at the hop the first message is lost."""
    monkeypatch.chdir(tmp_path)
    first, root = _first(), tmp_path / "recordings"
    root.mkdir()
    lines = [
        _line("e1", "client", 0.0, first),
        _line("u1", "upstream", 0.01, first),
        _line("e2", "client", 2.0, _second(first)),
        _line("u2", "upstream", 2.01, _second(first)[1:]),
    ]
    write(root / f"evil{EVIL}.jsonl", *lines)
    write(root / "evil.jsonl", *lines)
    changed = [{**first[0], "role": _evil("witch")}, *first[1:]]
    write(root / "other.jsonl", _line("e1", "client", 0.0, changed))
    return root


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "evil"],
        ["show", "evil", "c1"],
        ["show", "evil", "c1", "--verbose"],
        ["show", "evil", "--turn", "1"],
        ["show", "evil", "--turn", "2", "--verbose"],
        ["show", "evil", "--turn", "2", "--format", "json"],
        ["show", "evil", "no-such"],
        ["diff", "evil", "--turn", "1"],
        ["diff", "evil", "--turn", "1", "--verbose"],
        ["diff", "evil", "--hop", "--turn", "2"],
        ["diff", "evil", "--hop", "--turn", "2", "--side-by-side"],
        ["diff", "evil", "other"],
        ["diff", "evil", "other", "--side-by-side"],
        ["diff", "evil", "--hop", "--turn", "2", "--format", "json"],
        ["audit", "evil"],
        ["audit", "evil", "--verbose"],
        ["audit", "evil", "--format", "json"],
    ],
    ids=" ".join,
)
def test_no_escape_reaches_the_terminal(
    recordings: Path,
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever stands in roles, names, ids, reasons, headers: it is shown as visible text."""
    monkeypatch.setenv("COLUMNS", "120")
    run(arguments)
    told = capsys.readouterr()
    assert [char for char in told.out + told.err if is_harmful(char)] == []
    assert "internal error" not in told.err
    shown = told.out + told.err
    assert "\\x1b[2J" in shown or "\\u001b[2J" in shown or arguments[-1] == "no-such"
