"""Wrong types anywhere in requests, replies and stream events of every dialect: no rule breaks."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import VALUES

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response, WebSocketMessage
from proxyaudit.core.recording import Recording
from proxyaudit.dialects.read import NotATurn, read_turns
from proxyaudit.engine import audit

CALL = {"type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "read", "description": "d", "parameters": SCHEMA}}
CHAT_USAGE = {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}
USAGE = {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
ITEM = {"type": "function_call", "call_id": "k", "name": "read", "arguments": "{}"}
ANSWER = {"id": "r1", "model": "m", "status": "completed", "output": [SAID, ITEM], "usage": USAGE}
GEMINI_CALL = {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "s"}
GEMINI_REPLY = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "a", "thought": True}, GEMINI_CALL]},
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 5, "totalTokenCount": 55},
    "modelVersion": "m",
    "responseId": "r",
}
OLLAMA_REPLY = {
    "model": "m",
    "message": {"role": "assistant", "content": "a", "thinking": "t", "tool_calls": [CALL]},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 50,
    "eval_count": 5,
}

# Of each dialect a valid exchange: path, request, plain reply, stream events.
VALID: dict[str, tuple[str, Any, Any, list[Any]]] = {
    "openai-chat": (
        "/v1/chat/completions",
        {
            "model": "m",
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": 9,
            "stop": ["x"],
            "tool_choice": {"type": "function", "function": {"name": "read"}},
            "response_format": {"type": "json_schema", "json_schema": {"name": "n"}},
            "tools": [TOOL],
            "messages": [
                {"role": "system", "content": "Be terse."},
                {"role": "user", "content": [{"type": "text", "text": "Look."}, IMAGE]},
                {
                    "role": "assistant",
                    "reasoning_content": "t",
                    "tool_calls": [{"id": "k", **CALL}],
                },
                {"role": "tool", "tool_call_id": "k", "content": "text"},
            ],
        },
        {
            "id": "r",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": "a",
                        "tool_calls": [{"id": "j", **CALL}],
                    },
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": {**CHAT_USAGE, "prompt_tokens_details": {"cached_tokens": 1}},
        },
        [
            {"id": "r", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}}]},
            {"choices": [{"index": 0, "delta": {"reasoning_content": "t"}}]},
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "j", **CALL}]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            {"choices": [], "usage": CHAT_USAGE},
        ],
    ),
    "anthropic-messages": (
        "/v1/messages",
        {
            "model": "m",
            "stream": True,
            "max_tokens": 9,
            "system": [
                {"type": "text", "text": "Be terse.", "cache_control": {"type": "ephemeral"}}
            ],
            "tool_choice": {"type": "tool", "name": "read", "disable_parallel_tool_use": True},
            "thinking": {"type": "enabled", "budget_tokens": 9},
            "metadata": {"user_id": '{"session_id": "s"}'},
            "tools": [{"name": "read", "description": "d", "input_schema": SCHEMA}],
            "messages": [
                {"role": "user", "content": "Look."},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "t", "signature": "s"},
                        {"type": "tool_use", "id": "k", "name": "read", "input": {"path": "a"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "k", "content": "text"}],
                },
            ],
        },
        {
            "id": "r",
            "type": "message",
            "model": "m",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "j", "name": "read", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": {**USAGE, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 1},
        },
        [
            {"type": "message_start", "message": {"id": "r", "model": "m", "usage": USAGE}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "a"},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
            {"type": "message_stop"},
        ],
    ),
    "openai-responses": (
        "/v1/responses",
        {
            "model": "m",
            "stream": True,
            "instructions": "Be terse.",
            "previous_response_id": "r0",
            "reasoning": {"effort": "low"},
            "text": {"format": {"type": "text"}},
            "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}],
            "input": [
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Look."}],
                },
                {"type": "reasoning", "summary": [], "encrypted_content": "s"},
                ITEM,
                {"type": "function_call_output", "call_id": "k", "output": "text"},
            ],
        },
        ANSWER,
        [
            {"type": "response.created", "response": {"id": "r1", "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
            {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
            {
                "type": "response.output_text.delta",
                "output_index": 1,
                "content_index": 0,
                "delta": "a",
            },
            {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
            {"type": "response.completed", "response": ANSWER},
        ],
    ),
    "openai-completions": (
        "/v1/completions",
        {"model": "m", "prompt": ["Look.", "x"], "stream": True, "max_tokens": 9, "stop": "x"},
        {"id": "r", "choices": [{"text": "a", "finish_reason": "stop"}], "usage": CHAT_USAGE},
        [{"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}], "usage": CHAT_USAGE}],
    ),
    "ollama-chat": (
        "/api/chat",
        {
            "model": "m",
            "think": True,
            "options": {"num_ctx": 99, "num_predict": 9, "stop": ["x"]},
            "format": "json",
            "tools": [TOOL],
            "messages": [
                {"role": "system", "content": "Be terse."},
                {"role": "user", "content": "Look.", "images": ["QUJD"]},
                {"role": "assistant", "content": "", "thinking": "t", "tool_calls": [CALL]},
                {"role": "tool", "content": "text", "tool_name": "read"},
            ],
        },
        OLLAMA_REPLY,
        [{"model": "m", "message": {"content": "a", "thinking": "t"}, "done": False}, OLLAMA_REPLY],
    ),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent",
        {
            "systemInstruction": {"parts": [{"text": "Be terse."}]},
            "toolConfig": {
                "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}
            },
            "generationConfig": {"maxOutputTokens": 9, "thinkingConfig": {"thinkingBudget": 9}},
            "tools": [
                {"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT"}}]}
            ],
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"text": "Look."},
                        {"inlineData": {"mimeType": "image/png", "data": "QQ"}},
                    ],
                },
                {"role": "model", "parts": [GEMINI_CALL]},
                {
                    "role": "user",
                    "parts": [
                        {"functionResponse": {"name": "read", "response": {"output": "text"}}},
                    ],
                },
            ],
        },
        GEMINI_REPLY,
        [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, GEMINI_REPLY],
    ),
}


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The place of every node but the root."""
    keys: Any = (
        value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    )
    inner = [(*path, key) for key in keys]
    return [*inner, *(deeper for place in inner for deeper in nodes(value[place[-1]], place))]


@st.composite
def broken(draw: st.DrawFn, valid: Any) -> Any:
    """A valid value with one to three nodes replaced, deleted or there twice."""
    value = copy.deepcopy(valid)
    for _ in range(draw(st.integers(1, 3))):
        places = nodes(value)
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        holder = value
        for key in way:
            holder = holder[key]
        how = draw(st.sampled_from(["replace", "delete", "double"]))
        if how == "delete":
            del holder[last]
        elif how == "double" and isinstance(holder, list):
            holder.insert(last, copy.deepcopy(holder[last]))
        elif how == "double":
            holder[draw(st.sampled_from(sorted(map(str, holder))))] = copy.deepcopy(holder[last])
        else:
            holder[last] = draw(VALUES)
    return value


def exchange(id_: str, path: str, ask: Any, raw: bytes, at: float, tap: Any = "client") -> Exchange:
    request = Request("POST", f"http://h{path}", (), json.dumps(ask).encode())
    half = len(raw) // 2
    chunks = (Chunk(0.1, half), Chunk(0.4, len(raw) - half))
    return Exchange(id_, tap, at, request, Response(200, (), raw, chunks=chunks, ended_at=0.5))


def framed(name: str, events: Any) -> bytes:
    listed = events if isinstance(events, list) else [events]
    texts = [json.dumps(event) for event in listed]
    if name == "ollama-chat":
        return "\n".join(texts).encode()
    if name == "gemini":
        return f"[{','.join(texts)}]".encode()
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def nothing_breaks(*exchanges: Exchange) -> None:
    for one in exchanges:
        assert isinstance(read_turns(one), tuple | NotATurn)
    report = audit(Recording("x", exchanges)).report
    assert {c.rule: c.broke for c in report.checked if c.broke} == {}, report.flaws
    assert report.model_dump_json()


BOUNDED = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def test_what_is_broken_here_was_whole() -> None:
    """Each of the valid exchanges is read as a turn of its dialect, with a reply that is whole."""
    for name, (path, ask, plain, events) in VALID.items():
        for raw in (json.dumps(plain).encode(), framed(name, events)):
            turns = read_turns(exchange("1", path, ask, raw, 0.0))
            assert isinstance(turns, tuple)
            assert (turns[0].dialect, turns[0].ok) == (name, True), (name, raw)


@pytest.mark.parametrize("name", VALID)
@BOUNDED
@given(data=st.data())
def test_wrong_types_break_nothing(name: str, data: st.DataObject) -> None:
    """A broken turn, and after it a whole one of the same conversation; at both taps."""
    path, ask, plain, events = VALID[name]
    asked, said = data.draw(broken(ask)), data.draw(broken(plain))
    streamed = framed(name, data.draw(broken(events)))
    whole = json.dumps(plain).encode()
    nothing_breaks(
        exchange("1", path, asked, json.dumps(said).encode(), 0.0),
        exchange("1u", path, ask, whole, 0.1, "upstream"),
        exchange("2", path, ask, streamed, 1.0),
        exchange("2u", path, asked, framed(name, events), 1.1, "upstream"),
        exchange("3", path, data.draw(broken(ask)), whole, 2.0),
    )


@BOUNDED
@given(data=st.data())
def test_wrong_types_on_a_websocket_break_nothing(data: st.DataObject) -> None:
    _, ask, _, events = VALID["openai-responses"]
    frames: list[WebSocketMessage] = []
    for number in range(2):
        asked = data.draw(broken({"type": "response.create", "generate": bool(number), **ask}))
        answered = data.draw(broken(events))
        texts = [json.dumps(e) for e in (answered if isinstance(answered, list) else [answered])]
        at = 10.0 * number
        frames.append(WebSocketMessage(at, "client", json.dumps(asked)))
        frames += [WebSocketMessage(at + 0.1 * n, "server", t) for n, t in enumerate(texts, 1)]
    request = Request("GET", "ws://h/v1/responses")
    nothing_breaks(Exchange("w", "client", 0.0, request, Response(101), websocket=tuple(frames)))
