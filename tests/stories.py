"""Random conversations of an agent, as real bytes of chat completions: clean unless one changes them."""

import copy
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk, Exchange, Headers, Request, Response, Tap
from proxyaudit.core.recording import Recording

EPOCH = 1_790_000_000.0
URL = "http://model.test/v1/chat/completions"
WORDS = [
    "rake",
    "spade",
    "can",
    "green",
    "blue",
    "shed",
    "list",
    "count",
    "north",
    "south",
    "harbour",
    "tide",
    "ferry",
    "lock",
    "canal",
    "book",
    "page",
    "row",
    "column",
    "board",
    "move",
    "note",
    "file",
    "read",
    "write",
    "check",
    "again",
    "later",
    "before",
    "after",
    "first",
    "second",
    "third",
]

# How many stories a test plays; more where time allows (`PROXYAUDIT_STORIES=50`).
EXAMPLES = int(os.environ.get("PROXYAUDIT_STORIES", "4"))

type Json = dict[str, Any]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Use {name}.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
    for name in ("read_file", "write_file", "list_dir")
]


@dataclass
class Step:
    """One request and the assistant message that answers it."""

    body: Json
    reply: Json


def texts(least: int = 4) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), min_size=least, max_size=14).map(" ".join)


@st.composite
def stories(draw: st.DrawFn, least: int = 2, most: int = 5) -> list[Step]:
    """A conversation of some user turns, with tool loops, parallel calls and reasoning.

    Every text bears a number, so that no two messages are equal by chance.
    """
    history: list[Json] = [{"role": "system", "content": f"You keep a shed. {draw(texts())}."}]
    steps: list[Step] = []
    tag = 0
    for number in range(draw(st.integers(least, most))):
        history.append({"role": "user", "content": f"u{number} {draw(texts())}?"})
        for loop in range(draw(st.integers(0, 2))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                tag += 1
                path = f"{draw(st.sampled_from(WORDS))}-{tag}.txt"
                calls.append(_call(f"call_{tag:04d}", draw(st.sampled_from(TOOLS)), path))
            said: Json = {"role": "assistant", "content": None, "tool_calls": calls}
            if draw(st.booleans()):
                said["reasoning_content"] = f"r{number}.{loop} I think of {draw(texts())}."
            steps.append(_step(history, said))
            history.append(said)
            history += [
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "content": f'result {call["id"]} {draw(texts())}\n"{draw(texts())}"\n',
                }
                for call in calls
            ]
        said = {"role": "assistant", "content": f"a{number} {draw(texts())}."}
        steps.append(_step(history, said))
        history.append(said)
    return steps


def _call(id_: str, tool: Json, path: str) -> Json:
    name = tool["function"]["name"]
    arguments = json.dumps({"path": path, "mode": "plain"})
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _step(history: Sequence[Json], reply: Json) -> Step:
    body = {
        "model": "m",
        "messages": copy.deepcopy(list(history)),
        "tools": TOOLS,
        "max_tokens": 900,
    }
    return Step(body, copy.deepcopy(reply))


def exchange(
    body: Json,
    reply: Json,
    number: float,
    *,
    tap: Tap = "client",
    id_: str | None = None,
    headers: Headers = (),
    status: int = 200,
    alter: Callable[[Json], object] | None = None,
) -> Exchange:
    """One exchange of a story; `number` is its place in time, two seconds apart.

    `alter` changes the answer in place before it is sent.
    """
    raw = json.dumps(body, ensure_ascii=False).encode()
    answer: Json = {"error": {"message": "overloaded", "type": "server_error"}}
    if status == 200:
        tokens = len(raw) // 4
        finish = "tool_calls" if reply.get("tool_calls") else "stop"
        answer = {
            "id": f"r-{number}-{tap}",
            "model": "m",
            "choices": [{"index": 0, "message": reply, "finish_reason": finish}],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": 20,
                "total_tokens": tokens + 20,
            },
        }
    if alter is not None:
        alter(answer)
    data = json.dumps(answer, ensure_ascii=False).encode()
    shift = 0.01 if tap == "upstream" else 0.0
    end = 0.5 if tap == "upstream" else 0.53
    return Exchange(
        id_ or f"{number}-{tap}",
        tap,
        EPOCH + 2 * number + shift,
        Request("POST", URL, (("content-type", "application/json"), *headers), raw),
        Response(
            status,
            (("content-type", "application/json"),),
            data,
            "HTTP/1.1",
            (Chunk(end, len(data)),),
            end,
        ),
    )


def recording(exchanges: Sequence[Exchange]) -> Recording:
    return Recording("story", tuple(sorted(exchanges, key=lambda e: e.started_at)))


def played(steps: Sequence[Step], **options: Any) -> list[Exchange]:
    """The story at the client tap."""
    return [exchange(s.body, s.reply, n, **options) for n, s in enumerate(steps)]
