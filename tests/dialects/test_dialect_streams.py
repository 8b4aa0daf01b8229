"""Streams that are framed in ways of their own read like plain replies, however they are cut."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replies import completion_body, gemini_body, ollama_body
from strategies import CALLS, TEXTS, WORDS, message

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Reasoning
from proxyaudit.core.turn import Reply, Turn
from proxyaudit.dialects.fields import as_list, as_object, as_text
from proxyaudit.dialects.read import read_turn

type Pieces = Callable[[JSONObject, int], list[JSONObject]]
type Frame = Callable[[list[JSONObject]], str]

THOUGHTS = st.lists(st.builds(Reasoning, WORDS), max_size=1)
SAID = st.builds(message, st.just("assistant"), THOUGHTS, st.lists(TEXTS, max_size=1), CALLS)
GEMINI = "/v1beta/models/some-model:streamGenerateContent"


def ollama_lines(body: JSONObject, size: int) -> list[JSONObject]:
    said = as_object(body["message"])
    pieces: list[JSONObject] = []
    for key in ("thinking", "content"):
        text = as_text(said.get(key))
        pieces += [{key: text[at : at + size]} for at in range(0, len(text), size)]
    pieces += [{"content": "", "tool_calls": [call]} for call in as_list(said.get("tool_calls"))]
    lines: list[JSONObject] = [
        {"model": "m", "message": {"role": "assistant", **piece}, "done": False} for piece in pieces
    ]
    return [*lines, {**body, "message": {"role": "assistant", "content": ""}}]


def gemini_chunks(body: JSONObject, size: int) -> list[JSONObject]:
    candidate = as_object(as_list(body["candidates"])[0])
    parts: list[JSON] = []
    for part in as_list(as_object(candidate["content"])["parts"]):
        fields = as_object(part)
        text = as_text(fields.get("text"))
        cut: list[JSON] = [
            {**fields, "text": text[n : n + size]} for n in range(0, len(text), size)
        ]
        parts += cut or [part]
    head: JSONObject = {"modelVersion": "m", "responseId": "r"}
    chunks: list[JSONObject] = [
        {**head, "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
        for part in parts
    ]
    end: JSONObject = {"content": {"role": "model", "parts": []}, "finishReason": "STOP"}
    return [*chunks, {**head, "candidates": [end], "usageMetadata": body["usageMetadata"]}]


def completion_chunks(body: JSONObject, size: int) -> list[JSONObject]:
    text = as_text(as_object(as_list(body["choices"])[0])["text"])
    texts = [text[at : at + size] for at in range(0, len(text), size)]
    chunks: list[JSONObject] = [
        {**body, "choices": [{"index": 0, "text": piece}], "usage": None} for piece in texts
    ]
    end: JSONObject = {"index": 0, "text": "", "finish_reason": "stop"}
    return [*chunks, {**body, "choices": [end]}]


def as_lines(values: list[JSONObject]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def as_array(values: list[JSONObject]) -> str:
    return "[" + ",\r\n".join(json.dumps(value, ensure_ascii=False) for value in values) + "]\n"


def as_events(values: list[JSONObject]) -> str:
    return "".join(f"data: {json.dumps(value, ensure_ascii=False)}\n\n" for value in values)


def as_events_with_end(values: list[JSONObject]) -> str:
    return as_events(values) + "data: [DONE]\n\n"


def answered(path: str, ask: JSONObject, raw: bytes, step: int) -> Reply:
    sizes = [len(raw[start : start + step]) for start in range(0, len(raw), step)]
    chunks = tuple(Chunk(float(n), size) for n, size in enumerate(sizes))
    request = Request("POST", f"http://h{path}", (), json.dumps(ask).encode())
    # The header is what tells a stream of a single line from a plain body.
    kind = "application/x-ndjson" if step < 1000 and path == "/api/chat" else "application/json"
    response = Response(200, (("content-type", kind),), raw, chunks=chunks)
    turn = read_turn(Exchange("x", "client", 0.0, request, response))
    assert isinstance(turn, Turn)
    assert turn.reply is not None
    return turn.reply


@pytest.mark.parametrize(
    ("path", "ask", "write", "split", "frame"),
    [
        ("/api/chat", {"messages": []}, ollama_body, ollama_lines, as_lines),
        (GEMINI, {"contents": []}, gemini_body, gemini_chunks, as_array),
        (GEMINI + "?alt=sse", {"contents": []}, gemini_body, gemini_chunks, as_events),
        (
            "/v1/completions",
            {"prompt": "a"},
            completion_body,
            completion_chunks,
            as_events_with_end,
        ),
    ],
)
@given(said=SAID, size=st.integers(1, 4), step=st.integers(1, 90))
def test_a_stream_reads_like_the_plain_reply(
    path: str,
    ask: JSONObject,
    write: Callable[[Message], JSONObject],
    split: Pieces,
    frame: Frame,
    said: Message,
    size: int,
    step: int,
) -> None:
    body = write(said)
    plain = answered(path, ask, json.dumps(body).encode(), 1000)
    streamed = answered(path, ask, frame(split(body, size)).encode(), step)

    def essence(reply: Reply) -> tuple[object, ...]:
        return (reply.message, reply.finish, reply.usage, reply.model, reply.id, reply.error)

    assert essence(streamed) == essence(plain)
    assert (plain.stream, plain.finish is None) == (None, False)
    assert streamed.stream is not None
    assert streamed.stream.done
    assert [fault.kind for fault in streamed.stream.faults] == []
    assert len(streamed.stream.call_deltas) == (len(said.calls) if path != "/v1/completions" else 0)
    assert list(streamed.stream.text_times) == sorted(streamed.stream.text_times)


@pytest.mark.parametrize(
    ("path", "ask", "raw", "finish", "faults"),
    [
        (
            "/api/chat",
            {"messages": []},
            as_lines(ollama_lines(ollama_body(message("assistant", [])), 1))[:-30],
            None,
            ["torn"],
        ),
        (
            "/api/chat",
            {"messages": []},
            '{"message":{"content":"a"},"done":false}\n{"error":"gone"}\n',
            None,
            ["error"],
        ),
        (
            GEMINI,
            {"contents": []},
            '[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},',
            None,
            ["torn"],
        ),
        (GEMINI, {"contents": []}, '[{"error":{"code":400,"message":"no"}}]', None, ["error"]),
    ],
)
def test_a_stream_that_breaks_off_or_fails_is_told(
    path: str, ask: JSONObject, raw: str, finish: str | None, faults: list[str]
) -> None:
    reply = answered(path, ask, raw.encode(), 99)
    assert reply.stream is not None
    assert reply.finish == finish
    assert [fault.kind for fault in reply.stream.faults] == faults
