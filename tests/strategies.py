"""Prompts, messages and JSON at random, for the tests of all dialects."""

import json
from itertools import pairwise

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
from proxyaudit.core.turn import Prompt, Tool

WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffd"), min_size=1, max_size=8
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
        "prompt",
        "contents",
        "parts",
        "candidates",
        "functionCall",
        "functionResponse",
        "functionDeclarations",
        "inlineData",
        "args",
        "thought",
        "thoughtSignature",
        "systemInstruction",
        "toolConfig",
        "generationConfig",
        "usageMetadata",
        "finishReason",
        "images",
        "tool_name",
        "tool_call_id",
        "options",
        "done",
        "done_reason",
        "eval_count",
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
        "model",
        "STOP",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | KINDS
VALUES: st.SearchStrategy[JSON] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
BODIES: st.SearchStrategy[JSONObject] = st.dictionaries(KEYS, VALUES, max_size=6)


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
