"""How the scripted agent reads a reply: a harness's forgiving view, plain or streamed."""

import json
from dataclasses import dataclass, field
from typing import Any

from proxyaudit.demo.script import Body


@dataclass(slots=True)
class ReadReply:
    """A reply added up. `calls` are as the wire has them; `finish` None: it never came."""

    text: str = ""
    reasoning: str = ""
    calls: list[Body] = field(default_factory=list)
    finish: str | None = None
    usage: Body | None = None
    error: str | None = None

    @property
    def message(self) -> Body:
        """The assistant message for the history, the reasoning with it."""
        said: Body = {"role": "assistant", "content": self.text}
        if self.reasoning:
            said["reasoning_content"] = self.reasoning
        if self.calls:
            said["tool_calls"] = self.calls
        return said


def read_reply(body: bytes) -> ReadReply:
    """Read a response body; what cannot be read is left out, as harnesses do."""
    reply = ReadReply()
    text = body.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        _add(reply, _loads(text), "message")
        return reply
    for line in text.split("\n"):
        if line.startswith("data:"):
            _add(reply, _loads(line.removeprefix("data:").strip()), "delta")
    return reply


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _add(reply: ReadReply, value: Any, key: str) -> None:
    if not isinstance(value, dict):
        return
    if "error" in value:
        reply.error = str(value["error"])
    reply.usage = value.get("usage") or reply.usage
    for choice in value.get("choices") or ():
        reply.finish = choice.get("finish_reason") or reply.finish
        part = choice.get(key) or {}
        reply.text += part.get("content") or ""
        reply.reasoning += part.get("reasoning_content") or ""
        for call in part.get("tool_calls") or ():
            _add_call(reply.calls, call)


def _add_call(calls: list[Body], piece: Body) -> None:
    """Put a piece of a call where its index says; a piece with an id and no index opens one."""
    index, function = piece.get("index"), piece.get("function") or {}
    if index is None:
        index = len(calls) if piece.get("id") else len(calls) - 1
    index = min(max(index, 0), len(calls))
    if index == len(calls):
        calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    call = calls[index]
    call["id"] = piece.get("id") or call["id"]
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""
