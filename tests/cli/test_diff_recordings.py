"""`diff` of two recordings and in two columns, word for word."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_lines import clean, editing_harness, forgetful_proxy, line, write
from inline_snapshot import snapshot

from proxyaudit.cli.main import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two recordings of the same work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    root = tmp_path / "recordings"
    root.mkdir()
    first = [each for each in forgetful_proxy() if each["tap"] == "client"]
    write(root / "monday.jsonl", *first)
    write(root / "tuesday.jsonl", *changed(first))
    return root


def changed(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The second request says something else, the third reply too, with other counts."""
    made: list[dict[str, Any]] = json.loads(json.dumps(lines))
    request, response = made[1]["request"], made[2]["response"]
    request["body"] = request["body"].replace("Zorblax", "Bob", 1)
    body = response["body"].replace("You are welcome.", "You are very welcome.")
    response["body"] = body.replace('"prompt_tokens": 60', '"prompt_tokens": 55')
    return made


def test_two_recordings_turn_by_turn(capsys: Capture) -> None:
    assert run(["diff", "monday", "tuesday"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- recordings/monday.jsonl
+ recordings/tuesday.jsonl

c1 ↔ c1
  =  turn 1 → 1  the same
  ~  turn 2 → 2  request: 1 rewritten
  ~  turn 3 → 3  reply: 1 rewritten; prompt_tokens 60 → 55

- the request of turn 2 on the left  e2 · 4 messages
+ the request of turn 2 on the right  e2 · 4 messages

  =  0 → 0
      system  Answer briefly.
  ~  1 → 1  rewritten  user
    │ My name is [-Zorblax-]{+Bob+}, and I like green tea.
  =  2 → 2
      assistant  Hello Zorblax.
  =  3 → 3
      user  What is my name?

1 further turn differs: --verbose shows all of them
""")


def test_all_that_differs_in_two_columns(capsys: Capture) -> None:
    assert run(["diff", "monday", "tuesday", "-v", "--side-by-side"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- recordings/monday.jsonl
+ recordings/tuesday.jsonl

c1 ↔ c1
  =  turn 1 → 1  the same
  ~  turn 2 → 2  request: 1 rewritten
  ~  turn 3 → 3  reply: 1 rewritten; prompt_tokens 60 → 55

- the request of turn 2 on the left  e2 · 4 messages
+ the request of turn 2 on the right  e2 · 4 messages

=            │ 0  system                                 │ 0  system
             │ Answer briefly.                           │ Answer briefly.
~  rewritten │ 1  user                                   │ 1  user
             │ My name is [-Zorblax-], and I like green  │ My name is {+Bob+}, and I like green tea.
             │ tea.                                      │
=            │ 2  assistant                              │ 2  assistant
             │ Hello Zorblax.                            │ Hello Zorblax.
=            │ 3  user                                   │ 3  user
             │ What is my name?                          │ What is my name?

- the reply of turn 3 on the left  e3 · 1 message
+ the reply of turn 3 on the right  e3 · 1 message

~  rewritten │ 0  assistant                              │ 0  assistant
             │ You are welcome.                          │ You are {+very +}welcome.
""")


def test_a_recording_against_itself(capsys: Capture) -> None:
    assert run(["diff", "monday", "monday"]) == 0
    assert capsys.readouterr().out.endswith("\nBoth hold the same.\n")


def test_what_only_one_side_has(folder: Path, capsys: Capture) -> None:
    other = line(
        "x", [{"role": "user", "content": "Unlike."}], {"role": "assistant", "content": "?"}
    )
    write(folder / "short.jsonl", *clean(), {**other, "started_at": 1_790_000_050.0})
    assert run(["diff", "monday", "short"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- recordings/monday.jsonl
+ recordings/short.jsonl

c1 ↔ c1
  =  turn 1 → 1  the same
  =  turn 2 → 2  the same
  -  turn 3 → –  only on the left

c2  only on the right (main, 1 turn)

What both hold is the same.
""")


def test_json_tells_each_turn(capsys: Capture) -> None:
    assert run(["diff", "monday", "tuesday", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "proxyaudit.diff-recordings/1"
    (conversation,) = found["conversations"]
    assert [t["differs"] for t in conversation["turns"]] == [False, True, True]
    third = conversation["turns"][2]
    assert third["left"] == {"turn": 3, "exchange": "e3", "prompt_tokens": 60}
    assert third["right"] == {"turn": 3, "exchange": "e3", "prompt_tokens": 55}
    assert (third["prompt"]["changes"], third["reply"]["changes"]) == (0, 1)
    assert third["reply"]["rows"][0]["kind"] == "rewritten"


def test_one_turn_of_two_recordings(capsys: Capture) -> None:
    assert run(["diff", "monday", "tuesday", "--turn", "3"]) == 0
    shown = capsys.readouterr().out
    assert "turn 3 → 3" in shown
    assert "turn 2" not in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["monday", "sunday"], "there is no recording of this name"),
        (["monday", "tuesday", "--hop"], "--hop compares the taps of one recording"),
        (["monday", "tuesday", "--turn", "9"], "has a turn 9"),
    ],
)
def test_mistakes_are_answered(arguments: list[str], told: str, capsys: Capture) -> None:
    assert run(["diff", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_conversation_goes_before_a_recording_of_its_name(folder: Path, capsys: Capture) -> None:
    write(folder / "c1.jsonl", *clean())
    assert run(["diff", "monday", "c1", "--turn", "1"]) == 0
    assert "the history of turn 2" in capsys.readouterr().out


def test_two_columns_of_turns_where_there_is_room(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "edited.jsonl", *editing_harness())
    assert run(["diff", "edited", "--side-by-side"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- the history and the reply of turn 1  e1 · 3 messages
+ the history of turn 2  e2 · 4 messages

=            │ 0  system                                 │ 0  system
             │ Answer briefly.                           │ Answer briefly.
~  rewritten │ 1  user                                   │ 1  user
             │ My name is [-Zorblax-], and I like[-      │ My name is {+Bob+}, and I {+really +}like
             │ green-] tea.                              │ tea.
=            │ 2  assistant                              │ 2  assistant
             │ Hello Zorblax.                            │ Hello Zorblax.
+  new       │                                           │ 3  user
             │                                           │ What is my name?
""")
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["diff", "edited", "--side-by-side"]) == 0
    narrow = capsys.readouterr()
    assert narrow.err == "Two columns need 100 characters, here are 80: one below the other.\n"
    assert "[-Zorblax-]{+Bob+}" in narrow.out
