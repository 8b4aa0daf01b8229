"""A scripted reply as the Messages dialect writes it, and its requests read as chat."""

import hashlib
from collections.abc import Iterator

from proxyaudit.demo.chat import call_id, dumps, pieces, reply_id
from proxyaudit.demo.script import Body, Call, ScriptedReply, messages, objects, text_of
from proxyaudit.demo.tokens import usage


def as_chat(body: Body) -> Body:
    """A Messages request in the words of scripts: system first, tool results as messages."""
    system = text_of({"content": body.get("system")})
    told = [{"role": "system", "content": system}] if system else []
    for message in messages(body):
        told += _as_chat(message)
    tools = [
        {"function": {"name": t.get("name"), "parameters": t.get("input_schema")}}
        for t in objects(body.get("tools"))
    ]
    return {**body, "messages": told, "tools": tools}


def plain(body: Body, reply: ScriptedReply) -> Body:
    """The whole reply as one message object."""
    id_ = reply_id(body)
    return {
        **_frame(body, id_),
        "content": [dict(block) for block in _blocks(id_, reply)],
        "stop_reason": _stop(reply),
        "usage": _usage(body, reply),
    }


def stream(body: Body, reply: ScriptedReply) -> Iterator[bytes]:
    """The same reply as named SSE events, one `bytes` each."""
    id_, counts = reply_id(body), _usage(body, reply)
    opening = {**_frame(body, id_), "content": [], "stop_reason": None}
    opening["usage"] = {**counts, "output_tokens": 0}
    yield _event("message_start", message=opening)
    for index, block in enumerate(_blocks(id_, reply)):
        empty, deltas = _taken_apart(block)
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": _stop(reply), "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": counts["output_tokens"]})
    yield _event("message_stop")


def error(status: int, message: str) -> Body:
    """An error object as this dialect has it."""
    kinds = {401: "authentication_error", 404: "not_found_error"}
    kind = kinds.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _as_chat(message: Body) -> list[Body]:
    blocks = objects(message.get("content"))
    results: list[Body] = [
        {"role": "tool", "tool_call_id": b.get("tool_use_id"), "content": text_of(b)}
        for b in blocks
        if b.get("type") == "tool_result"
    ]
    said: Body = {"role": message.get("role"), "content": text_of(message)}
    thoughts = "".join(str(b.get("thinking", "")) for b in blocks)
    if thoughts:
        said["reasoning_content"] = thoughts
    calls = [
        {"function": {"name": b.get("name"), "arguments": dumps(b.get("input")).decode()}}
        for b in blocks
        if b.get("type") == "tool_use"
    ]
    if calls:
        said["tool_calls"] = calls
    return results if results and not said["content"] else [*results, said]


def _frame(body: Body, id_: str) -> Body:
    id_ = id_.replace("chatcmpl-", "msg_")
    model = body.get("model")
    return {"id": id_, "type": "message", "role": "assistant", "model": model}


def _usage(body: Body, reply: ScriptedReply) -> Body:
    counts = usage(as_chat(body), reply)
    return {"input_tokens": counts["prompt_tokens"], "output_tokens": counts["completion_tokens"]}


def _stop(reply: ScriptedReply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _blocks(id_: str, reply: ScriptedReply) -> Iterator[Body]:
    if reply.reasoning:
        signature = hashlib.sha256(reply.reasoning.encode()).hexdigest()[:24]
        yield {"type": "thinking", "thinking": reply.reasoning, "signature": signature}
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for number, call in enumerate(reply.calls):
        yield _call(id_, number, call)


def _call(id_: str, number: int, call: Call) -> Body:
    id_ = call_id(id_, number).replace("call_", "toolu_")
    return {"type": "tool_use", "id": id_, "name": call.name, "input": call.arguments}


def _taken_apart(block: Body) -> tuple[Body, list[Body]]:
    """A block as it opens, and the deltas that fill it."""
    match block["type"]:
        case "thinking":
            parts = pieces(block["thinking"], 4)
            deltas: list[Body] = [{"type": "thinking_delta", "thinking": p} for p in parts]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "text":
            return {**block, "text": ""}, [
                {"type": "text_delta", "text": p} for p in pieces(block["text"])
            ]
    parts = pieces(dumps(block["input"]).decode(), 4)
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in parts]


def _event(name: str, **fields: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), dumps({"type": name, **fields}))
