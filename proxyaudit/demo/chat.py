"""A scripted reply as the chat dialect writes it: one object, or a stream of events."""

import hashlib
import json
import re
import time
from collections.abc import Iterator
from typing import Protocol

from proxyaudit.demo.script import Body, Call, ScriptedReply
from proxyaudit.demo.tokens import usage

_MOST_PIECES = 10


class Wire(Protocol):
    """What a module offers that writes scripted replies in a dialect."""

    def as_chat(self, body: Body, /) -> Body: ...
    def plain(self, body: Body, reply: ScriptedReply, /) -> Body: ...
    def stream(self, body: Body, reply: ScriptedReply, /) -> Iterator[bytes]: ...
    def error(self, status: int, message: str, /) -> Body: ...


def dumps(value: object) -> bytes:
    """Compact JSON, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def as_chat(body: Body) -> Body:
    """The request in the words of scripts, which are those of this dialect."""
    return body


def reply_id(body: Body) -> str:
    """An id that follows from the request alone, so that a replay gets the same one."""
    return "chatcmpl-" + hashlib.sha256(dumps(body)).hexdigest()[:16]


def call_id(of_reply: str, number: int) -> str:
    """The id of the tool call with this number in a reply."""
    return "call_" + hashlib.sha256(f"{of_reply}/{number}".encode()).hexdigest()[:12]


def pieces(text: str, most: int = _MOST_PIECES) -> list[str]:
    """A text cut after words into at most `most` pieces, as a model would stream it."""
    words = re.findall(r"\s*\S+|\s+$", text)
    size = -(-len(words) // most) or 1
    return ["".join(words[i : i + size]) for i in range(0, len(words), size)]


def plain(body: Body, reply: ScriptedReply) -> Body:
    """The whole reply as one `chat.completion`."""
    id_ = reply_id(body)
    message: Body = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_call(id_, n, c) for n, c in enumerate(reply.calls)]
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return {
        "id": id_,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model"),
        "choices": [choice],
        "usage": usage(body, reply),
    }


def stream(body: Body, reply: ScriptedReply) -> Iterator[bytes]:
    """The same reply as SSE events, one `bytes` each, the sentinel last."""
    id_ = reply_id(body)
    frame = {
        "id": id_,
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": body.get("model"),
    }
    for delta in _deltas(id_, reply):
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield event({**frame, "choices": [choice]})
    last = {"index": 0, "delta": {}, "finish_reason": reply.finish}
    yield event({**frame, "choices": [last]})
    if _wants_usage(body):
        yield event({**frame, "choices": [], "usage": usage(body, reply)})
    yield b"data: [DONE]\n\n"


def event(value: object) -> bytes:
    """One SSE event with JSON data."""
    return b"data: " + dumps(value) + b"\n\n"


def error(status: int, message: str) -> Body:
    """An error object as this dialect has it."""
    kinds = {401: "authentication_error", 404: "not_found_error"}
    kind = kinds.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": status}}


def _wants_usage(body: Body) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _deltas(id_: str, reply: ScriptedReply) -> Iterator[Body]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.reasoning, 4):
        yield {"reasoning_content": piece}
    for piece in pieces(reply.text):
        yield {"content": piece}
    for number, call in enumerate(reply.calls):
        whole = _call(id_, number, call)
        arguments = whole["function"]["arguments"]
        opening = {**whole, "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [{"index": number, **opening}]}
        for piece in pieces(arguments, 4):
            yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}


def _call(id_: str, number: int, call: Call) -> Body:
    function = {"name": call.name, "arguments": dumps(call.arguments).decode()}
    return {"id": call_id(id_, number), "type": "function", "function": function}
