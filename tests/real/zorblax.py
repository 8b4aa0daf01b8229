"""A client that tells a model its name and asks for it three questions later."""

import json
from collections.abc import Sequence

import httpx
from real.llama import ALIAS

from proxyaudit.core.json import JSON

SAID = (
    "Hello. My name is Zorblax.",
    "What is two plus two?",
    "What is the capital of France?",
    "What is my name?",
)


def chat(url: str, said: Sequence[str] = SAID) -> str:
    """Say one thing after the other, all of the history each time; returns the last answer."""
    history: list[JSON] = []
    answer = ""
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        for text in said:
            history.append({"role": "user", "content": text})
            body: JSON = {
                "model": ALIAS,
                "messages": history,
                "temperature": 0,
                "max_tokens": 24,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            answer = answered(client.post("/v1/chat/completions", json=body))
            history.append({"role": "assistant", "content": answer})
    return answer


def answered(response: httpx.Response) -> str:
    """The text of a streamed answer."""
    assert response.status_code == 200, response.text
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
