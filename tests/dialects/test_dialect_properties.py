"""What holds for every dialect and any traffic."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replies import anthropic_body, chat_body, responses_body
from strategies import BODIES, CALLS, PROMPTS, TEXTS, THOUGHTS, message

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, Text
from proxyaudit.core.turn import Prompt, Reply, StreamEvent
from proxyaudit.dialects.fields import as_list, as_object, as_text
from proxyaudit.dialects.read import all_dialects, dialect_named
from proxyaudit.wire.sse import SseDecoder

DIALECTS = {dialect.name: dialect for dialect in all_dialects()}


@pytest.mark.parametrize("name", DIALECTS)
@given(body=BODIES, events=st.lists(BODIES, max_size=4))
def test_no_json_raises(name: str, body: JSONObject, events: list[JSONObject]) -> None:
    dialect = DIALECTS[name]
    prompt, reply = dialect.read_prompt(body), dialect.read_reply(body)
    frames = [StreamEvent(n, None, "", json.dumps(event)) for n, event in enumerate(events)]
    streamed = dialect.read_stream(frames, ())
    for said in (*prompt.messages, reply.message, streamed.message):
        assert said is None or len(said.content) == len(said.body)
    dialect.write_prompt(prompt)


def unsigned(said: Message) -> Message:
    """Without the signatures of thoughts, where a format has none."""
    parts = (replace(p, signature=None) if isinstance(p, Reasoning) else p for p in said.parts)
    return replace(said, parts=tuple(parts))


def in_one(said: Message) -> Message:
    """Texts side by side as one, where a format cuts what the model said anywhere."""
    parts: list[Part] = []
    for part in said.parts:
        last = parts[-1] if parts else None
        if said.role == "assistant" and isinstance(part, Text) and isinstance(last, Text):
            parts[-1] = Text(last.text + part.text)
        else:
            parts.append(part)
    return replace(said, parts=tuple(parts))


# What a format cannot tell of a message; all others tell everything.
LOSSES = {"ollama-chat": unsigned, "gemini": in_one}
# The old completions have no messages: they have a test of their own.
CHATS = [name for name in DIALECTS if name != "openai-completions"]


@pytest.mark.parametrize("name", CHATS)
@given(prompt=PROMPTS)
def test_a_written_prompt_reads_back_equal(name: str, prompt: Prompt) -> None:
    dialect = DIALECTS[name]
    wire = json.loads(json.dumps(dialect.write_prompt(prompt)))
    back = dialect.read_prompt(wire)
    lossy = LOSSES.get(name)
    expected = tuple(map(lossy, prompt.messages)) if lossy else prompt.messages
    assert back.messages == expected
    assert back.tools == prompt.tools
    assert dict(back.settings) == dict(prompt.settings)
    assert (back.model, back.stream) == (prompt.model, prompt.stream)


@given(prompt=PROMPTS)
def test_a_prompt_means_the_same_in_every_dialect(prompt: Prompt) -> None:
    joined = replace(prompt, messages=tuple(map(in_one, prompt.messages)))
    histories = [
        [m.content for m in DIALECTS[n].read_prompt(DIALECTS[n].write_prompt(joined)).messages]
        for n in CHATS
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


def responses_chunks(body: JSONObject, sizes: list[int]) -> list[JSONObject]:
    """Items grow piece by piece; the last event holds the whole response."""
    chunks: list[JSONObject] = [_responded("created", {**body, "output": [], "usage": None})]
    for at, value in enumerate(as_list(body["output"])):
        item, here = as_object(value), {"output_index": at}
        empty: JSONObject = {"content": [], "summary": [], "arguments": ""}
        begun: JSONObject = {key: empty.get(key, value) for key, value in item.items()}
        chunks.append({"type": "response.output_item.added", **here, "item": begun})
        kinds = {"output_text": "output_text", "summary_text": "reasoning_summary_text"}
        for place, part in enumerate(
            [*as_list(item.get("summary")), *as_list(item.get("content"))]
        ):
            kind = kinds[as_text(as_object(part)["type"])]
            index = "summary_index" if kind.startswith("reasoning") else "content_index"
            for piece in cut(as_text(as_object(part)["text"]), sizes):
                head: JSONObject = {"type": f"response.{kind}.delta", **here, index: place}
                chunks.append({**head, "delta": piece})
        for piece in cut(as_text(item.get("arguments")), sizes) if "arguments" in item else []:
            head = {"type": "response.function_call_arguments.delta", **here}
            chunks.append({**head, "delta": piece})
        chunks.append({"type": "response.output_item.done", **here, "item": item})
    return [*chunks, _responded("completed", body)]


def responses_chunks_alone(body: JSONObject, sizes: list[int]) -> list[JSONObject]:
    """As some servers send it: items are not told again, neither when done nor at the end."""
    whole = responses_chunks(body, sizes)
    chunks = [chunk for chunk in whole if chunk["type"] != "response.output_item.done"]
    return [*chunks[:-1], _responded("completed", {**body, "output": []})]


def _responded(what: str, response: JSONObject) -> JSONObject:
    return {"type": f"response.{what}", "response": response}


@pytest.mark.parametrize(
    ("name", "write", "split"),
    [
        ("openai-chat", chat_body, chat_chunks),
        ("anthropic-messages", anthropic_body, anthropic_chunks),
        ("openai-responses", responses_body, responses_chunks),
        ("openai-responses", responses_body, responses_chunks_alone),
    ],
)
@given(
    said=st.builds(message, st.just("assistant"), THOUGHTS, st.lists(TEXTS, max_size=1), CALLS),
    sizes=st.lists(st.integers(0, 4), max_size=4),
    step=st.integers(1, 50),
)
def test_a_stream_reads_like_the_plain_reply_however_it_is_cut(
    name: str,
    write: Callable[[Message], JSONObject],
    split: Splitter,
    said: Message,
    sizes: list[int],
    step: int,
) -> None:
    dialect = dialect_named(name)
    assert dialect is not None
    body = write(said)
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
