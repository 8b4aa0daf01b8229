"""The Messages format: the same history as in chat completions, streams, cached tokens."""

import json

import pytest

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import (
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    assistant,
    system,
    tool,
    user,
)
from proxyaudit.core.turn import CallDelta, Reply, Usage
from proxyaudit.dialects.anthropic_messages import DIALECT
from proxyaudit.dialects.openai_chat import DIALECT as CHAT
from proxyaudit.wire.sse import decode


def prompt_of(*messages: JSON, **fields: JSON) -> tuple[Message, ...]:
    return DIALECT.read_prompt({"messages": list(messages), **fields}).messages


def stream_of(*events: JSONObject) -> Reply:
    frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return DIALECT.read_stream(*decode("".join(frames).encode(), (), False))


def grow(index: int, **delta: JSON) -> JSONObject:
    return {"type": "content_block_delta", "index": index, "delta": dict(delta)}


def begin(index: int, **block: JSON) -> JSONObject:
    return {"type": "content_block_start", "index": index, "content_block": dict(block)}


USE: JSONObject = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
RESULT: JSONObject = {"type": "tool_result", "tool_use_id": "t", "content": "done"}
CACHED: JSONObject = {"cache_control": {"type": "ephemeral"}}


def test_a_history_reads_like_the_same_history_in_chat_completions() -> None:
    here = prompt_of(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [USE, {**USE, "id": "u"}]},
        {
            "role": "user",
            "content": [RESULT, {**RESULT, "tool_use_id": "u"}, {"type": "text", "text": "on"}],
        },
        system="Be brief.",
    )
    calls: list[JSON] = [
        {"id": id_, "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        for id_ in "tu"
    ]
    there = CHAT.read_prompt(
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "t", "content": "done"},
                {"role": "tool", "tool_call_id": "u", "content": "done"},
                {"role": "user", "content": "on"},
            ]
        }
    ).messages
    assert [m.content for m in here] == [m.content for m in there]


def test_results_and_the_text_around_them_keep_order_and_places() -> None:
    said: JSON = {"type": "text", "text": "said"}
    messages = prompt_of({"role": "user", "content": [said, RESULT, said, RESULT, said, said]})
    assert messages == (
        user("said"),
        tool("t", "done"),
        user("said"),
        tool("t", "done"),
        Message("user", (Text("said"), Text("said"))),
    )
    assert [m.pointer for m in messages] == [f"/messages/0/content/{n}" for n in range(5)]
    assert messages[4].parts[1].pointer == "/messages/0/content/5"


def test_cache_marks_and_shape_do_not_change_the_content() -> None:
    left, right = prompt_of(
        {"role": "user", "content": "hi"},
        {"role": "user", "content": [{"type": "text", "text": "hi", **CACHED}]},
    )
    assert left.content == right.content
    (marked,) = prompt_of({"role": "user", "content": [{**RESULT, **CACHED}]})
    assert marked.content == tool("t", "done").content


def test_thinking_keeps_its_signature_and_stays_out_of_the_content() -> None:
    (message,) = prompt_of(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "why", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "so"},
            ],
        }
    )
    assert message.thoughts == (Reasoning("why", "s"), Reasoning("", "d"))
    assert message.content == assistant("so").content


def test_the_version_line_of_a_client_is_no_system_text() -> None:
    noise: JSON = {"type": "text", "text": "x-anthropic-billing-header: cc_version=1.2.3; nonce=1"}
    (message,) = prompt_of(system=[noise, {"type": "text", "text": "Be brief.", **CACHED}])
    assert message == system("Be brief.")
    assert (message.pointer, message.parts[0].pointer) == ("/system", "/system/1")
    assert prompt_of(system=[noise]) == ()


def test_a_system_message_in_the_history_stays_where_it_stood() -> None:
    messages = prompt_of(
        {"role": "user", "content": "a"}, {"role": "system", "content": "b"}, system="c"
    )
    assert messages == (system("c"), user("a"), system("b"))
    assert messages[2].pointer == "/messages/1"


def test_a_failed_result_says_so() -> None:
    good, bad = prompt_of(
        {"role": "user", "content": [{**RESULT, "is_error": False}]},
        {"role": "user", "content": [{**RESULT, "is_error": True}]},
    )
    assert good == tool("t", "done")
    assert bad.parts[1] == Opaque("field:is_error", "true")


def test_an_image_is_the_same_as_in_chat_completions() -> None:
    source: JSON = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    (here,) = prompt_of({"role": "user", "content": [{"type": "image", "source": source}]})
    url: JSON = {"url": "data:image/png;base64,AAAA"}
    there = CHAT.read_prompt(
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": url}]}]}
    )
    assert here == there.messages[0]


def test_settings_and_tools_are_the_same_as_in_chat_completions() -> None:
    schema: JSON = {"type": "object", "properties": {"a": {"type": "number"}}}
    here = DIALECT.read_prompt(
        {
            "messages": [],
            "max_tokens": 9,
            "stop_sequences": ["END"],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            "output_config": {"effort": "low"},
            "tools": [{"name": "f", "description": "d", "input_schema": schema, **CACHED}],
        }
    )
    function: JSON = {"name": "f", "description": "d", "parameters": schema, "strict": True}
    there = CHAT.read_prompt(
        {
            "messages": [],
            "max_completion_tokens": 9,
            "stop": "END",
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "reasoning_effort": "low",
            "tools": [{"type": "function", "function": function}],
        }
    )
    assert here.settings == there.settings
    assert here.tools == there.tools
    pointer = here.setting_pointers["parallel_tool_calls"]
    assert pointer == "/tool_choice/disable_parallel_tool_use"


def test_a_plain_reply_counts_cached_tokens_into_the_prompt() -> None:
    usage: JSONObject = {
        "input_tokens": 3,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
        "output_tokens": 7,
    }
    reply = DIALECT.read_reply(
        {
            "id": "m",
            "role": "assistant",
            "content": [USE],
            "stop_reason": "tool_use",
            "usage": usage,
        }
    )
    assert reply.message == assistant("", ToolCall("t", "f", '{"a":1}'))
    assert (reply.finish, reply.finish_raw) == ("tool_calls", "tool_use")
    assert reply.usage == Usage(prompt=123, completion=7, cached=100, written=20)


def test_an_error_is_no_message() -> None:
    error: JSON = {"type": "overloaded_error", "message": "busy"}
    assert DIALECT.read_reply({"type": "error", "error": error}) == Reply(
        error="busy", finish_pointer="/stop_reason"
    )


START: JSONObject = {
    "type": "message_start",
    "message": {"id": "m1", "model": "h", "usage": {"input_tokens": 9, "output_tokens": 1}},
}
END: JSONObject = {
    "type": "message_delta",
    "delta": {"stop_reason": "tool_use"},
    "usage": {"input_tokens": 0, "output_tokens": 30},
}
STOP: JSONObject = {"type": "message_stop"}


def test_a_stream_adds_up_to_its_blocks() -> None:
    reply = stream_of(
        START,
        {"type": "ping"},
        begin(0, type="thinking", thinking="", signature=""),
        grow(0, type="thinking_delta", thinking="be"),
        grow(0, type="thinking_delta", thinking="cause"),
        grow(0, type="signature_delta", signature="s"),
        begin(1, type="text", text=""),
        grow(1, type="text_delta", text="An"),
        grow(1, type="text_delta", text="swer"),
        begin(2, type="tool_use", id="t", name="f", input={}),
        grow(2, type="input_json_delta", partial_json='{"a":'),
        grow(2, type="input_json_delta", partial_json="1}"),
        {"type": "content_block_stop", "index": 2},
        END,
        STOP,
    )
    assert reply.message is not None
    assert reply.message.parts == (
        Reasoning("because", "s"),
        Text("Answer"),
        ToolCall("t", "f", '{"a":1}'),
    )
    assert reply.usage == Usage(prompt=9, completion=30)
    assert (reply.finish, reply.finish_pointer) == ("tool_calls", "/stream/13")
    assert reply.stream is not None
    assert (reply.stream.done, reply.stream.faults) == (True, ())
    assert reply.stream.call_deltas == (
        CallDelta(9, 2, "t", "f", None),
        CallDelta(10, 2, None, None, '{"a":'),
        CallDelta(11, 2, None, None, "1}"),
    )


def test_a_call_without_arguments_has_the_input_it_began_with() -> None:
    reply = stream_of(START, begin(0, **USE), STOP)
    assert reply.message == assistant("", ToolCall("t", "f", '{"a":1}'))


def test_the_sentinel_of_another_format_does_not_end_a_stream() -> None:
    reply = DIALECT.read_stream(*decode(b"data: [DONE]\n\n", (), False))
    assert reply.stream is not None
    assert (reply.stream.done, reply.stream.faults, reply.message) == (False, (), None)


def test_an_error_event_is_a_fault() -> None:
    error: JSON = {"type": "overloaded_error", "message": "busy"}
    reply = stream_of(START, {"type": "error", "error": error})
    assert reply.error == "busy"
    assert reply.stream is not None
    assert [(f.kind, f.event) for f in reply.stream.faults] == [("error", 1)]


@pytest.mark.parametrize("kind", ["text_delta", "thinking_delta"])
def test_a_piece_of_a_block_that_never_began_is_kept(kind: str) -> None:
    reply = stream_of(START, grow(4, type=kind, text="a", thinking="a"))
    assert reply.message is not None
    assert reply.message.text + reply.message.reasoning == "a"
