"""What holds for every dialect and any traffic."""

import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    canonical_json,
    digest,
)
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, Tool
from proxyaudit.dialects.base import Dialect
from proxyaudit.dialects.fields import as_list, as_object, as_text
from proxyaudit.dialects.read import all_dialects, dialect_named
from proxyaudit.wire.sse import SseDecoder

DIALECTS = {dialect.name: dialect for dialect in all_dialects()}
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)
KEYS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "index",
        "input",
        "output",
        "messages",
        "instructions",
        "system",
        "tools",
        "choices",
        "delta",
        "message",
        "usage",
        "error",
        "finish_reason",
        "tool_choice",
        "stop",
        "reasoning",
        "reasoning_details",
        "thinking",
        "signature",
        "source",
        "image_url",
        "response",
        "item",
        "output_index",
        "content_block",
        "summary",
        "encrypted_content",
        "response_format",
        "prompt_tokens",
        "input_tokens",
    ]
)
KINDS = st.sampled_from(
    [
        "text",
        "tool_use",
        "tool_result",
        "image",
        "thinking",
        "function",
        "function_call",
        "message",
        "reasoning",
        "user",
        "assistant",
        "tool",
        "system",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "error",
        "response.completed",
        "response.output_item.added",
        "response.output_text.delta",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | KINDS
VALUES: st.SearchStrategy[JSON] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
BODIES: st.SearchStrategy[JSONObject] = st.dictionaries(KEYS, VALUES, max_size=6)


@pytest.mark.parametrize("name", DIALECTS)
@given(body=BODIES, events=st.lists(BODIES, max_size=4))
def test_no_json_raises(name: str, body: JSONObject, events: list[JSONObject]) -> None:
    dialect = DIALECTS[name]
    prompt, reply = dialect.read_prompt(body), dialect.read_reply(body)
    frames = [StreamEvent(n, None, "", json.dumps(event)) for n, event in enumerate(events)]
    streamed = dialect.read_stream(frames, ())
    for message in (*prompt.messages, reply.message, streamed.message):
        assert message is None or len(message.content) == len(message.body)
    dialect.write_prompt(prompt)


def opaque_part(kind: str, word: str) -> Opaque:
    return Opaque(kind, canonical_json({"type": kind, "z": word}))


def call(id_: str, name: str, arguments: dict[str, str]) -> ToolCall:
    return ToolCall(id_, name, json.dumps(arguments, separators=(",", ":"), ensure_ascii=False))


TEXTS = st.builds(Text, WORDS)
MEDIA = st.builds(Media, st.sampled_from(["image", "file"]), WORDS.map(digest))
OPAQUE = st.builds(opaque_part, st.sampled_from(["hologram", "odd"]), WORDS)
CONTENT = st.lists(st.one_of(TEXTS, MEDIA, OPAQUE), max_size=3)
THOUGHTS = st.lists(st.builds(Reasoning, WORDS, st.none() | WORDS), max_size=1)
CALLS = st.lists(
    st.builds(call, WORDS, WORDS, st.dictionaries(WORDS, WORDS, max_size=2)), max_size=3
)
RESULTS = st.builds(ToolResult, WORDS, st.just("") | WORDS, st.lists(MEDIA, max_size=1).map(tuple))


def message(role: str, *groups: list[Part]) -> Message:
    return Message(role, tuple(part for group in groups for part in group))


SYSTEMS = st.builds(message, st.just("system"), st.lists(TEXTS, min_size=1, max_size=2))
USERS = st.builds(message, st.just("user"), CONTENT)
TOOLS = st.builds(message, st.just("tool"), RESULTS.map(lambda result: [result]))
SAID = st.builds(message, st.just("assistant"), THOUGHTS, CONTENT, CALLS)


def without_rows(messages: list[Message]) -> tuple[Message, ...]:
    """Assistant messages in a row are one in some formats: leave the second out."""
    kept = messages[:1]
    for before, after in pairwise(messages):
        if not before.role == after.role == "assistant":
            kept.append(after)
    return tuple(kept)


def offered(name: str, description: str, schema: bool) -> Tool:
    parameters: JSONObject = {"parameters": {"type": "object"}} if schema else {}
    return Tool(name, canonical_json({"description": description, **parameters}))


SETTINGS: st.SearchStrategy[dict[str, JSON]] = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.integers(1, 99),
        "stop": st.lists(WORDS, min_size=1),
        "temperature": st.floats(0, 2),
        "tool_choice": st.sampled_from(["auto", "none", "required"])
        | WORDS.map(lambda w: {"name": w}),
        "parallel_tool_calls": st.booleans(),
        "reasoning_effort": st.sampled_from(["low", "high"]),
        "verbosity": st.just("low"),
        "response_format": st.just(
            {"type": "json_schema", "name": "n", "schema": {"type": "object"}}
        ),
        "thinking": st.just({"type": "enabled", "budget_tokens": 9}),
        "metadata": st.dictionaries(WORDS, WORDS, min_size=1),
    },
)
PROMPTS = st.builds(
    Prompt,
    messages=st.lists(st.one_of(SYSTEMS, USERS, TOOLS, SAID), max_size=6).map(without_rows),
    tools=st.lists(st.builds(offered, WORDS, WORDS, st.booleans()), max_size=2).map(tuple),
    model=st.none() | WORDS,
    stream=st.booleans(),
    settings=SETTINGS,
)


@pytest.mark.parametrize("name", DIALECTS)
@given(prompt=PROMPTS)
def test_a_written_prompt_reads_back_equal(name: str, prompt: Prompt) -> None:
    dialect = DIALECTS[name]
    wire = json.loads(json.dumps(dialect.write_prompt(prompt)))
    back = dialect.read_prompt(wire)
    assert back.messages == prompt.messages
    assert back.tools == prompt.tools
    assert dict(back.settings) == dict(prompt.settings)
    assert (back.model, back.stream) == (prompt.model, prompt.stream)


@given(prompt=PROMPTS)
def test_a_prompt_means_the_same_in_every_dialect(prompt: Prompt) -> None:
    histories = [
        [m.content for m in dialect.read_prompt(dialect.write_prompt(prompt)).messages]
        for dialect in DIALECTS.values()
    ]
    assert all(history == histories[0] for history in histories)


def cut(text: str, sizes: list[int]) -> list[str]:
    """A text in pieces: none is lost, some may be empty."""
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


type Splitter = Callable[[JSONObject, list[int]], list[JSONObject]]


def chat_body(dialect: Dialect, said: Message) -> JSONObject:
    written = as_list(dialect.write_prompt(Prompt((said,)))["messages"])[0]
    choice: JSONObject = {"index": 0, "message": written, "finish_reason": "stop"}
    usage: JSONObject = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "r", "model": "m", "choices": [choice], "usage": usage}


def chat_chunks(body: JSONObject, sizes: list[int]) -> list[JSONObject]:
    choice = as_object(as_list(body["choices"])[0])
    said = as_object(choice["message"])
    deltas: list[JSONObject] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        if isinstance(text := said.get(key), str):
            deltas += [{key: piece} for piece in cut(text, sizes)]
        elif text:
            deltas.append({key: text})
    if details := said.get("reasoning_details"):
        deltas.append({"reasoning_details": details})
    for at, item in enumerate(as_list(said.get("tool_calls"))):
        function = as_object(as_object(item)["function"])
        first: JSONObject = {"name": function["name"], "arguments": ""}
        deltas.append({"tool_calls": [{**as_object(item), "index": at, "function": first}]})
        for piece in cut(as_text(function["arguments"]), sizes):
            deltas.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    head: JSONObject = {"id": body["id"], "model": body["model"]}
    chunks: list[JSONObject] = [{**head, "choices": [{"index": 0, "delta": d}]} for d in deltas]
    end: JSONObject = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    return [*chunks, {**head, "choices": [end]}, {**head, "choices": [], "usage": body["usage"]}]


def anthropic_body(dialect: Dialect, said: Message) -> JSONObject:
    written = as_object(as_list(dialect.write_prompt(Prompt((said,)))["messages"])[0])
    usage: JSONObject = {"input_tokens": 1, "cache_read_input_tokens": 5, "output_tokens": 2}
    head: JSONObject = {"id": "r", "model": "m", "type": "message"}
    return {**head, "content": written["content"], "stop_reason": "end_turn", "usage": usage}


_GROWS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


def anthropic_chunks(body: JSONObject, sizes: list[int]) -> list[JSONObject]:
    begun: JSONObject = {**body, "content": [], "stop_reason": None}
    chunks: list[JSONObject] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    content = body["content"]
    blocks: list[JSON] = [{"type": "text", "text": content}] if content else []
    blocks = blocks if isinstance(content, str) else as_list(content)
    for at, item in enumerate(blocks):
        block = as_object(item)
        kind, key = _GROWS.get(as_text(block["type"]), ("input_json_delta", "input"))
        grows = block["type"] in ("text", "thinking", "tool_use")
        empty: JSONObject = {key: {} if key == "input" else ""} if grows else {}
        start: JSONObject = {**{k: v for k, v in block.items() if k != "signature"}, **empty}
        chunks.append({"type": "content_block_start", "index": at, "content_block": start})
        whole = block.get(key) if grows else ""
        text = (
            whole
            if isinstance(whole, str)
            else json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
        )
        place = "partial_json" if key == "input" else key
        for piece in cut(text, sizes) if grows else []:
            delta: JSONObject = {"type": kind, place: piece}
            chunks.append({"type": "content_block_delta", "index": at, "delta": delta})
        if signature := block.get("signature"):
            delta = {"type": "signature_delta", "signature": signature}
            chunks.append({"type": "content_block_delta", "index": at, "delta": delta})
    stop: JSONObject = {"stop_reason": body["stop_reason"]}
    chunks.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 2}})
    return [*chunks, {"type": "message_stop"}]


@pytest.mark.parametrize(
    ("name", "write", "split"),
    [
        ("openai-chat", chat_body, chat_chunks),
        ("anthropic-messages", anthropic_body, anthropic_chunks),
    ],
)
@given(
    said=st.builds(message, st.just("assistant"), THOUGHTS, st.lists(TEXTS, max_size=1), CALLS),
    sizes=st.lists(st.integers(0, 4), max_size=4),
    step=st.integers(1, 50),
)
def test_a_stream_reads_like_the_plain_reply_however_it_is_cut(
    name: str,
    write: Callable[[Dialect, Message], JSONObject],
    split: Splitter,
    said: Message,
    sizes: list[int],
    step: int,
) -> None:
    dialect = dialect_named(name)
    assert dialect is not None
    body = write(dialect, said)
    frames = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in split(body, sizes)]
    raw = "".join(frames).encode()
    decoder = SseDecoder()
    for start in range(0, len(raw), step):
        decoder.feed(raw[start : start + step], float(start))
    decoder.close()
    plain, streamed = dialect.read_reply(body), dialect.read_stream(decoder.events, decoder.faults)

    def essence(reply: Reply) -> tuple[object, ...]:
        return (reply.message, reply.finish, reply.usage, reply.model, reply.id, reply.error)

    assert essence(streamed) == essence(plain)
    assert streamed.stream is not None
    assert [fault.kind for fault in streamed.stream.faults] == []
