"""`proxyaudit replay` as a user runs it: a process, a folder, a server on a real socket."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from loopback import plain, raw, serving

from proxyaudit.store.read import open_recording


class Ran(NamedTuple):
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str


def reply(text: str, tokens: int) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens + 2}
    return json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage}).encode()


def write_recording(path: Path, *tokens: int) -> None:
    """A plain recording of one conversation, one turn for each count."""
    messages: list[dict[str, str]] = []
    lines = []
    for number, count in enumerate(tokens, 1):
        messages.append({"role": "user", "content": f"question {number}"})
        body = reply("hello", count).decode()
        lines.append(
            {
                "format": "proxyaudit.exchange/1",
                "id": f"x{number}",
                "tap": "client",
                "started_at": 1000.0 + number,
                "request": {
                    "method": "POST",
                    "url": "http://old/v1/chat/completions",
                    "headers": [["Authorization", "Bearer [redacted sha256:1a2b3c4d]"]],
                    "body": json.dumps({"model": "m", "messages": messages}),
                },
                "response": {"status": 200, "headers": [], "body": body},
                "end": "complete",
            }
        )
        messages.append({"role": "assistant", "content": "hello"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


async def start(folder: Path, *arguments: str, **variables: str) -> asyncio.subprocess.Process:
    keys = {"OPENAI_API_KEY", "COLUMNS"}
    environment = {k: v for k, v in os.environ.items() if k not in keys} | variables
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proxyaudit.cli.main", "replay", *arguments),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process) -> Ran:
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


def test_other_prompt_is_the_headline_and_exit_code_1(tmp_path: Path) -> None:
    """The new recording is written, without the key that was used."""
    write_recording(tmp_path / "old.jsonl", 10, 11)

    async def run() -> Ran:
        async with serving(plain(reply("hello", 10)), plain(reply("hi", 42))) as server:
            arguments = ("old.jsonl", "--target", f"{server.url}/v1")
            ran = await ended(await start(tmp_path, *arguments, OPENAI_API_KEY="sk-secret"))
            assert [b"Bearer sk-secret" in head for head in server.heads] == [True, True]
            return ran

    ran = asyncio.run(run())
    assert ran.code == 1, ran.err
    first = " ".join(ran.out.split("\n\n")[0].split())
    assert first.startswith(
        "turn 2: the same request gave prompt_tokens 42 here and 11 when recorded: the model did "
        "not see the same prompt. Suspect: "
    )
    assert "1/2 turn 1: same" in ran.err
    new = open_recording(tmp_path / "recordings" / "old-replay")
    assert [e.id for e in new.exchanges] == ["x1.replay", "x2.replay"]
    assert [e.end for e in new.exchanges] == ["complete", "complete"]
    assert "sk-secret" not in repr(new) + ran.out + ran.err


def test_json_and_exit_code_0_and_a_second_folder(tmp_path: Path) -> None:
    """stdout is one document; a name that is taken is not written into."""
    write_recording(tmp_path / "old.jsonl", 10)
    (tmp_path / "recordings" / "old-replay").mkdir(parents=True)

    async def run() -> Ran:
        async with serving(plain(reply("hello", 10))) as server:
            arguments = ("old.jsonl", "--target", server.url, "--format", "json", "--model", "n")
            ran = await ended(await start(tmp_path, *arguments))
            assert json.loads(server.bodies[0])["model"] == "n"
            assert b"Authorization" not in server.heads[0]
            return ran

    ran = asyncio.run(run())
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["schema"] == "proxyaudit.replay/1"
    assert document["written_to"] == "recordings/old-replay-2"
    assert [turn["verdict"] for turn in document["turns"]] == ["same"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--target", "http://127.0.0.1:1"), "cannot be reached"),
        (("--target", "nonsense"), "http://host:port"),
        (("--target", "http://127.0.0.1:1", "--turn", "7"), "no turn 7"),
        (("--target", "http://127.0.0.1:1", "--api-key-env", "NOT_SET"), "NOT_SET"),
    ],
)
def test_mistakes_are_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    """With a message and a hint on stderr, nothing on stdout."""
    write_recording(tmp_path / "old.jsonl", 10)

    async def run() -> Ran:
        return await ended(await start(tmp_path, "old.jsonl", *arguments))

    ran = asyncio.run(run())
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "hint: " in ran.err


def test_interrupt_keeps_and_shows_what_was_done(tmp_path: Path) -> None:
    """Ctrl-C while the second request waits."""
    write_recording(tmp_path / "old.jsonl", 10, 11)

    async def run() -> Ran:
        async with serving(plain(reply("hello", 10)), raw()) as server:
            process = await start(tmp_path, "old.jsonl", "--target", server.url)
            assert process.stderr is not None
            assert b"turn 1" in await process.stderr.readline()
            while len(server.bodies) < 2:  # noqa: ASYNC110 (the server has one event, for one)
                await asyncio.sleep(0.02)
            process.send_signal(signal.SIGINT)
            return await ended(process)

    ran = asyncio.run(run())
    assert ran.code == 130, ran.err
    assert "Ended early: 1 of 2 requests were replayed." in ran.out
    new = open_recording(tmp_path / "recordings" / "old-replay")
    assert [e.end for e in new.exchanges] == ["complete", "recorder_stopped"]
