"""What an audit costs: `uv run python benchmarks/audit.py [--quick]`.

A session of an agent whose history grows with every request, read from a recording on disk and
audited. The baseline is the session of 100 turns: twice the turns hold four times the bytes, and
what an audit has to look at (the new bytes) is only twice as much.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response
from proxyaudit.core.recording import Recording
from proxyaudit.engine import audit
from proxyaudit.store.read import open_recording
from proxyaudit.store.write import RecordingWriter

WORDS = [
    f"{a}{b}" for a in ("ra", "sho", "ti", "fe", "lo", "ca") for b in ("ke", "de", "rry", "nal")
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{n}",
            "description": " ".join(WORDS),
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
    for n in range(12)
]


def session(turns: int, seed: int = 0) -> Iterator[Exchange]:
    """A tool loop: each turn adds a call and a result of some 1.5 kB."""
    dice = random.Random(seed)

    def said(words: int) -> str:
        return " ".join(dice.choices(WORDS, k=words))

    messages: list[dict[str, Any]] = [
        {"role": "system", "content": said(600)},
        {"role": "user", "content": f"{seed} {said(60)}"},
    ]
    for turn in range(turns):
        call = {
            "id": f"call_{seed}_{turn}",
            "type": "function",
            "function": {"name": f"tool_{turn % 12}", "arguments": json.dumps({"path": said(4)})},
        }
        reply = {"role": "assistant", "content": said(20), "tool_calls": [call]}
        yield _exchange(f"{seed}-{turn}", 10.0 * turn + seed / 1e4, messages, reply)
        result = {"role": "tool", "tool_call_id": call["id"], "content": f"{turn} {said(230)}"}
        messages += [reply, result]


def _exchange(
    id_: str, at: float, messages: list[dict[str, Any]], reply: dict[str, Any]
) -> Exchange:
    body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
    tokens = len(body) // 4
    answer = {
        "id": f"r-{id_}",
        "model": "m",
        "choices": [{"index": 0, "message": reply, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40},
    }
    data = json.dumps(answer).encode()
    kind = (("content-type", "application/json"),)
    return Exchange(
        id_,
        "client",
        1_790_000_000.0 + at,
        Request("POST", "http://m.test/v1/chat/completions", kind, body),
        Response(200, kind, data, "HTTP/1.1", (Chunk(0.5, len(data)),), 0.5),
    )


def measured(exchanges: Iterator[Exchange], folder: Path) -> tuple[float, float, float]:
    """(megabytes of requests, seconds of CPU to read the recording, seconds of CPU to audit it)."""
    size = 0
    with RecordingWriter(folder) as writer:
        for exchange in exchanges:
            size += len(exchange.request.body)
            writer.whole(exchange)
    start = time.process_time()
    recording: Recording = open_recording(folder)
    read = time.process_time()
    report = audit(recording).report
    done = time.process_time()
    assert report.verdict == "clean", report.headline
    return size / 1e6, read - start, done - read


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="100 and 200 turns, 100 sessions")
    quick = options.parse_args().quick
    lengths = [100, 200] if quick else [100, 200, 400]
    sessions = 100 if quick else 1000
    print(f"{'recording':28} {'MB':>8} {'read s':>8} {'audit s':>8} {'audit / 100 turns':>18}")
    base = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        measured(session(5), Path(scratch, "warm-up"))
        for turns in lengths:
            row = measured(session(turns), Path(scratch, f"one-{turns}"))
            base = base or row[2]
            _print(f"1 session of {turns} turns", row, f"{row[2] / base:.2f}")
        many = (e for n in range(sessions) for e in session(5, seed=n + 1))
        row = measured(many, Path(scratch, "many"))
        _print(f"{sessions} sessions of 5 turns", row, "")


def _print(name: str, row: tuple[float, float, float], ratio: str) -> None:
    print(f"{name:28} {row[0]:8.1f} {row[1]:8.2f} {row[2]:8.2f} {ratio:>18}")


if __name__ == "__main__":
    main()
