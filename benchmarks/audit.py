"""What an audit costs: `uv run python benchmarks/audit.py [--quick]`.

A session of an agent whose history grows with every request, read from a recording on disk and
audited. The baseline is the session of 100 turns: twice the turns hold four times the bytes, and
what an audit has to look at (the new bytes) is only twice as much.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
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


def streamed(exchange: Exchange) -> Exchange:
    """The same exchange with its reply as a stream of some sixty events."""
    assert exchange.response is not None
    answer = json.loads(exchange.response.body)
    choice = answer.pop("choices")[0]
    said, call = choice["message"]["content"], choice["message"]["tool_calls"][0]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word + " "} for word in said.split()]
    deltas[-1]["content"] = deltas[-1]["content"].rstrip()
    start = {"index": 0, "id": call["id"], "type": "function"}
    name = call["function"]["name"]
    deltas.append({"tool_calls": [{**start, "function": {"name": name, "arguments": ""}}]})
    deltas += [
        {"tool_calls": [{"index": 0, "function": {"arguments": letter}}]}
        for letter in call["function"]["arguments"]
    ]
    usage = answer.pop("usage")
    events = [{**answer, "choices": [{"index": 0, "delta": d}]} for d in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    events += [{**answer, "choices": [end]}, {**answer, "choices": [], "usage": usage}]
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    lines.append(b"data: [DONE]\n\n")
    chunks = tuple(Chunk(0.5 + n / 100, len(line)) for n, line in enumerate(lines))
    body, kind = b"".join(lines), (("content-type", "text/event-stream"),)
    response = Response(200, kind, body, "HTTP/1.1", chunks, chunks[-1].at)
    return replace(exchange, response=response)


def written(exchanges: Iterable[Exchange], folder: Path) -> float:
    """Write a recording; megabytes of its bodies."""
    size = 0
    with RecordingWriter(folder) as writer:
        for exchange in exchanges:
            answer = exchange.response.body if exchange.response else b""
            size += len(exchange.request.body) + len(answer)
            writer.whole(exchange)
    return size / 1e6


def measured(folder: Path) -> tuple[float, float]:
    """(seconds of CPU to read the recording, seconds of CPU to audit it), once all is loaded."""
    audit(Recording("warm-up", tuple(session(5, seed=-1))))
    start = time.process_time()
    recording: Recording = open_recording(folder)
    read = time.process_time()
    report = audit(recording).report
    done = time.process_time()
    assert report.verdict == "clean", report.headline
    return read - start, done - read


def apart(folder: Path) -> tuple[float, float, float]:
    """The same in a process of its own, and the most memory that it took, in megabytes."""
    script = [sys.executable, __file__, "--one", str(folder)]
    out = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    read, done, peak = map(float, out.split())
    return read, done, peak


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="100 and 200 turns, 100 sessions")
    options.add_argument("--large", action="store_true", help="also a recording of 2 GB")
    options.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        read, done = measured(chosen.one)
        print(read, done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    lengths = [100, 200] if chosen.quick else [100, 200, 400]
    sessions = 100 if chosen.quick else 1000
    print(f"{'recording':32}{'MB':>8}{'read s':>8}{'audit s':>8}{'peak MB':>9}  audit / 100 turns")
    base = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        for turns in lengths:
            base = _row(f"1 session of {turns} turns", session(turns), Path(scratch), base)
        many = (e for n in range(sessions) for e in session(5, seed=n + 1))
        _row(f"{sessions} sessions of 5 turns at a time", many, Path(scratch), None)
        if chosen.large:
            long = (e for n in range(15) for e in map(streamed, session(400, seed=n + 1)))
            _row("15 sessions of 400 turns, streamed", long, Path(scratch), None)


def _row(name: str, exchanges: Iterable[Exchange], scratch: Path, base: float | None) -> float:
    """Print one line; the seconds that the ratios are to."""
    folder = scratch / name.replace(" ", "-")
    size = written(exchanges, folder)
    read, done, peak = apart(folder)
    shutil.rmtree(folder)
    ratio = "" if base is None else f"{done / (base or done):.2f}"
    print(f"{name:32}{size:8.0f}{read:8.2f}{done:8.2f}{peak:9.0f}  {ratio}", flush=True)
    return base or done


if __name__ == "__main__":
    main()
