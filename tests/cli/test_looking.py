"""`list`, `show` and `diff` on small recordings, word for word."""

import json
from pathlib import Path

import pytest
from chat_lines import clean, editing_harness, forgetful_proxy, line, write
from inline_snapshot import snapshot

from proxyaudit.cli.main import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recordings, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "recordings"
    root.mkdir()
    write(root / "lost.jsonl", *forgetful_proxy())
    return root


def test_list_names_each_recording(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "second.jsonl", *clean())
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    assert "client, upstream" in next(line for line in shown.splitlines() if "lost" in line)
    assert run(["list", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "proxyaudit.list/1"
    told = {e["name"]: (e["exchanges"], e["taps"]) for e in document["recordings"]}
    assert told == {
        "lost.jsonl": (6, ["client", "upstream"]),
        "second.jsonl": (2, ["client"]),
    }


def test_an_empty_list_says_how_to_begin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", "--recordings", str(tmp_path / "none")]) == 0
    assert "proxyaudit demo" in capsys.readouterr().out


def test_show_lists_conversations_and_turns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "lost"]) == 0
    assert capsys.readouterr().out == snapshot("""\
recordings/lost.jsonl  6 exchanges (3 at the client tap, 3 at the upstream tap) · 2026-09-21
14:13:20 UTC, 4.26 s

main c1  3 turns · tern
  turn  time      exchange  msgs  new  in  out  finish  status    ttfb
     1  14:13:20  e1           2       20    5  stop       200  0.25 s
     2  14:13:22  e2           4   +2  40    5  stop       200  0.25 s  request changed at the hop
     3  14:13:24  e3           6   +2  60    5  stop       200  0.25 s  request changed at the hop
""")


def test_show_reads_a_conversation_turn_by_turn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was as before is counted, not repeated."""
    assert run(["show", "lost", "c1"]) == 0
    assert capsys.readouterr().out == snapshot("""\
main c1  3 turns · tern

turn 1  e1
  0  system     Answer briefly.
  1  user       My name is Zorblax, and I like green tea.
  ↳  assistant  Hello Zorblax.

turn 2  e2 · 3 messages as before
  3  user       What is my name?
  ↳  assistant  Your name is Zorblax.

turn 3  e3 · 5 messages as before
  5  user       Thank you.
  ↳  assistant  You are welcome.
""")


def test_show_one_turn_without_its_secrets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "lost", "--turn", "2"]) == 0
    shown = capsys.readouterr().out
    assert "sk-secret-0001" not in shown
    kept = [line for line in shown.splitlines() if "redacted" not in line]
    assert "\n".join(kept) == snapshot("""\
exchange e2  turn 2 of conversation c1 · client tap · openai-chat
  request    POST http://proxy.test/v1/chat/completions
  sent       2026-09-21 14:13:22 UTC · 256 B
  response   200 · complete · 258 B · 1 chunk
  time       first byte after 0.25 s · all after 0.25 s
  other tap  u2

Prompt
  tern · no stream
  0  system     Answer briefly.
  1  user       My name is Zorblax, and I like green tea.
  2  assistant  Hello Zorblax.
  3  user       What is my name?

Reply
  tern · finish stop · tokens: prompt 40, completion 5
    assistant  Your name is Zorblax.

Request headers
  content-type   application/json

Response headers
  content-type  application/json\
""")


def test_show_finds_an_exchange_by_the_beginning_of_its_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "ids.jsonl", line("abc1", *_hello()), line("abd2", *_hello(), at=9))
    assert run(["show", "ids", "abd"]) == 0
    assert "exchange abd2" in capsys.readouterr().out
    assert run(["show", "ids", "ab"]) == 2
    assert "may be abc1, abd2" in capsys.readouterr().err


def _hello() -> tuple[list[dict[str, str]], dict[str, str]]:
    return [{"role": "user", "content": "hello"}], {"role": "assistant", "content": "hi"}


def test_raw_bytes_are_those_of_the_wire(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Also where they are no text at all."""
    lines = clean()
    body = lines[1]["request"]["body"]
    lines[1]["response"] = {
        "status": 200,
        "headers": [],
        "body_base64": "AAH/G1sySg==",
        "chunks": [],
    }
    write(folder / "raw.jsonl", *lines)
    assert run(["show", "raw", "e2", "--raw", "request"]) == 0
    assert capfdbinary.readouterr().out == body.encode()
    assert run(["show", "raw", "e2", "--raw", "response"]) == 0
    assert capfdbinary.readouterr().out == b"\x00\x01\xff\x1b[2J"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "lost", "--turn", "9"], "has no turn 9"),
        (["show", "lost", "zzz"], "no conversation or exchange 'zzz'"),
        (["show", "lost", "--raw", "request"], "--raw needs an exchange"),
        (["show", "lost", "c1", "--raw", "request"], "--raw needs an exchange"),
        (["diff", "lost", "--turn", "3"], "nothing goes on from turn 3"),
        (["diff", "one", "--hop"], "nothing was seen at both taps"),
        (["diff", "single"], "no turn goes on from another"),
        (["diff", "one", "--hop", "--turn", "1"], "turn 1 was seen at one tap only"),
    ],
)
def test_mistakes_are_answered_with_a_hint(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "one.jsonl", *clean())
    write(folder / "single.jsonl", clean()[0])
    assert run(arguments) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "hint:" in told


def test_diff_shows_the_first_change(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "edited.jsonl", *editing_harness())
    assert run(["diff", "edited"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- the history and the reply of turn 1  e1 · 3 messages
+ the history of turn 2  e2 · 4 messages

  =  0 → 0
      system  Answer briefly.
  ~  1 → 1  rewritten  user
    │ My name is [-Zorblax-]{+Bob+}, and I {+really +}like[- green-] tea.
  =  2 → 2
      assistant  Hello Zorblax.
  +  → 3  new
      user  What is my name?
""")


def test_diff_across_the_hop(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "lost", "--hop", "--turn", "2"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- the request at the client tap of turn 2  e2 · 4 messages
+ the request at the upstream tap of turn 2  u2 · 2 messages

  =  0 → 0
      system  Answer briefly.
  -  1 →  gone
      user  My name is Zorblax, and I like green tea.
  -  2 →  gone
      assistant  Hello Zorblax.
  =  3 → 1
      user  What is my name?

- the reply at the upstream tap of turn 2  u2 · 1 message
+ the reply at the client tap of turn 2  e2 · 1 message
  nothing is lost or changed

  =  0 → 0
      assistant  Your name is Zorblax.
""")


def test_diff_of_turns_folds_what_is_equal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", "lost", "--turn", "2"]) == 0
    assert capsys.readouterr().out == snapshot("""\
- the history and the reply of turn 2  e2 · 5 messages
+ the history of turn 3  e3 · 6 messages
  nothing is lost or changed

  =  0–4 → 0–4  5 equal messages
  +  → 5  new
      user  Thank you.
""")


def test_diff_where_nothing_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "clean.jsonl", *clean())
    assert run(["diff", "clean"]) == 0
    assert capsys.readouterr().out == "Nothing was lost or changed.\n"


def test_json_of_show_and_diff_name_their_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "lost", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "proxyaudit.show/1"
    assert [x["turn"] for x in shown["conversations"][0]["lines"]] == [1, 2, 3]

    assert run(["show", "lost", "e2", "--format", "json"]) == 0
    exchange = json.loads(capsys.readouterr().out)["exchange"]
    assert exchange["turn"] == 2
    assert exchange["other_tap"] == ["u2"]
    assert exchange["prompt"]["messages"][1]["parts"][0]["text"].startswith("My name is")
    assert "sk-secret" not in json.dumps(exchange)

    assert run(["diff", "lost", "--hop", "--turn", "2", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "proxyaudit.diff/1"
    forwarded = found["comparisons"][0]
    assert forwarded["relation"] == "forwarded"
    assert [row["kind"] for row in forwarded["rows"]] == ["equal", "dropped", "dropped", "equal"]


def test_a_later_turn_on_a_websocket_is_shown_by_its_own_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its question is the request, its answer the response, and `--turn` finds it as well."""

    def frame(at: float, sender: str, **event: object) -> dict[str, object]:
        return {"at": at, "from": sender, "text": json.dumps(event)}

    frames = []
    for number, word in enumerate(("one", "two")):
        more = {"previous_response_id": "r0"} if number else {}
        output = [{"type": "message", "role": "assistant", "content": f"said {word}"}]
        answer = {"id": f"r{number}", "status": "completed", "output": output}
        frames.append(frame(number, "client", type="response.create", input=word, **more))
        frames.append(frame(number + 0.5, "server", type="response.completed", response=answer))
    exchange = {
        "format": "proxyaudit.exchange/1",
        "id": "w",
        "tap": "client",
        "started_at": 1_790_000_000.0,
        "request": {"method": "GET", "url": "ws://h/v1/responses", "headers": []},
        "response": {"status": 101, "headers": [], "body": "", "chunks": []},
        "end": "complete",
        "websocket": frames,
    }
    write(folder / "socket.jsonl", exchange)
    assert run(["show", "socket", "w#2", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["exchange"]
    assert (shown["id"], shown["turn"], shown["conversation"]) == ("w#2", 2, "c1")
    assert [m["pointer"] for m in shown["prompt"]["messages"]] == [
        "/previous_response_id",
        "/previous_response_id",
        "/input",
    ]
    assert run(["show", "socket", "--turn", "2", "--raw", "request"]) == 0
    assert json.loads(capsys.readouterr().out)["input"] == "two"


@pytest.mark.parametrize("when", [1e13, 1e300, -1e18])
def test_a_time_that_no_calendar_holds_is_shown_all_the_same(
    folder: Path, when: float, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "odd.jsonl", *({**each, "started_at": when} for each in clean()))
    assert run(["show", "odd"]) == 0
    assert f"no date ({when:g})" in capsys.readouterr().out
    assert run(["show", "odd", "--turn", "1"]) == 0
    assert f"no date ({when:g})" in capsys.readouterr().out
