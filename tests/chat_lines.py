"""Small recordings of chat completions in the plain form, for tests of what users read."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

EPOCH = 1_790_000_000.0
SYSTEM = {"role": "system", "content": "Answer briefly."}
NAME = {"role": "user", "content": "My name is Zorblax, and I like green tea."}
HELLO = {"role": "assistant", "content": "Hello Zorblax."}
ASK = {"role": "user", "content": "What is my name?"}
ANSWER = {"role": "assistant", "content": "Your name is Zorblax."}
THANKS = {"role": "user", "content": "Thank you."}
WELCOME = {"role": "assistant", "content": "You are welcome."}

type Message = dict[str, Any]


def line(
    id: str,  # noqa: A002 - the word of the format
    messages: Sequence[Message],
    reply: Message,
    *,
    at: float = 0.0,
    tap: str = "client",
    secret: str = "sk-secret-0001",
) -> dict[str, Any]:
    """One exchange; `at` in seconds since the first one."""
    answer = {
        "id": f"r-{id}",
        "object": "chat.completion",
        "model": "tern",
        "choices": [{"index": 0, "message": reply, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10 * len(messages), "completion_tokens": 5, "total_tokens": 0},
    }
    answer["usage"]["total_tokens"] = 10 * len(messages) + 5  # type: ignore[index]
    body = json.dumps(answer)
    return {
        "format": "proxyaudit.exchange/1",
        "id": id,
        "tap": tap,
        "started_at": EPOCH + at,
        "request": {
            "method": "POST",
            "url": f"http://{'proxy' if tap == 'client' else 'backend'}.test/v1/chat/completions",
            "headers": [
                ["content-type", "application/json"],
                ["authorization", f"Bearer {secret}"],
            ],
            "body": json.dumps({"model": "tern", "messages": list(messages)}),
        },
        "response": {
            "status": 200,
            "headers": [["content-type", "application/json"]],
            "body": body,
            "chunks": [[0.25, len(body)]],
            "ended_at": 0.25,
        },
        "end": "complete",
    }


def write(path: Path, *lines: dict[str, Any]) -> Path:
    """A recording of these exchanges."""
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def clean() -> list[dict[str, Any]]:
    """Two turns, nothing lost, seen at the client tap."""
    return [
        line("e1", [SYSTEM, NAME], HELLO),
        line("e2", [SYSTEM, NAME, HELLO, ASK], ANSWER, at=2),
    ]


def forgetful_proxy() -> list[dict[str, Any]]:
    """Three turns at both taps; from the second on the proxy passes the last message only."""
    first, second = [SYSTEM, NAME], [SYSTEM, NAME, HELLO, ASK]
    third = [*second, ANSWER, THANKS]
    return [
        line("e1", first, HELLO),
        line("u1", first, HELLO, at=0.01, tap="upstream"),
        line("e2", second, ANSWER, at=2),
        line("u2", [SYSTEM, ASK], ANSWER, at=2.01, tap="upstream"),
        line("e3", third, WELCOME, at=4),
        line("u3", [SYSTEM, THANKS], WELCOME, at=4.01, tap="upstream"),
    ]


def editing_harness(after: str = "My name is Bob, and I really like tea.") -> list[dict[str, Any]]:
    """Two turns; the second changes what the user said in the first."""
    changed = {"role": "user", "content": after}
    return [
        line("e1", [SYSTEM, NAME], HELLO),
        line("e2", [SYSTEM, changed, HELLO, ASK], ANSWER, at=2),
    ]
