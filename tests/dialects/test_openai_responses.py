"""The Responses format: items become the messages that other formats have."""

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
from proxyaudit.dialects.openai_chat import DIALECT as CHAT
from proxyaudit.dialects.openai_responses import DIALECT
from proxyaudit.wire.sse import decode


def items(*given: JSON, **fields: JSON) -> tuple[Message, ...]:
    return DIALECT.read_prompt({"input": list(given), **fields}).messages


def stream_of(*events: JSONObject) -> Reply:
    frames = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return DIALECT.read_stream(*decode("".join(frames).encode(), (), False))


THOUGHT: JSONObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "why"}],
    "encrypted_content": "e",
}
SAID: JSONObject = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "so", "annotations": []}],
}
CALL: JSONObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c",
    "name": "f",
    "arguments": '{"a":1}',
}
RESULT: JSONObject = {"type": "function_call_output", "call_id": "c", "output": "done"}
WHOLE = assistant("so", ToolCall("c", "f", '{"a":1}'))


def test_a_history_reads_like_the_same_history_in_chat_completions() -> None:
    here = items(
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        THOUGHT,
        SAID,
        CALL,
        RESULT,
        {"role": "developer", "content": "brief"},
        instructions="Plan.",
    )
    call: JSON = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    there = CHAT.read_prompt(
        {
            "messages": [
                {"role": "system", "content": "Plan."},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": "so", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": "done"},
                {"role": "system", "content": "brief"},
            ]
        }
    ).messages
    assert [m.content for m in here] == [m.content for m in there]
    pointers = ["/instructions", "/input/0", "/input/1", "/input/4", "/input/5"]
    assert [m.pointer for m in here] == pointers
    assert here[2].thoughts == (Reasoning("why", "e"),)


def test_ids_of_items_do_not_change_the_content() -> None:
    bare = [{k: v for k, v in item.items() if k not in ("id", "status")} for item in (SAID, CALL)]
    (with_ids,), (without,) = items(SAID, CALL), items(*bare)
    assert with_ids.content == without.content
    assert with_ids.wire != without.wire


def test_a_string_is_a_user_message() -> None:
    prompt = DIALECT.read_prompt({"input": "hi", "previous_response_id": "r0"})
    assert prompt.messages == (user("hi"),)
    assert (prompt.messages[0].pointer, prompt.messages_pointer) == ("/input", "/input")
    assert prompt.previous_id == "r0"
    assert prompt.settings == {}


def test_items_that_no_message_holds_are_kept() -> None:
    reference, search = items(
        {"type": "item_reference", "id": "x"},
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "q"}},
    )
    assert reference.parts == (Opaque("item_reference", '{"id":"x","type":"item_reference"}'),)
    assert search.role == "assistant"
    assert search.parts == (
        Opaque("web_search_call", '{"action":{"query":"q"},"type":"web_search_call"}'),
    )


def test_free_text_calls_and_their_answers_are_calls() -> None:
    said, answer = items(
        {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** patch"},
        {"type": "custom_tool_call_output", "call_id": "p", "output": "ok"},
    )
    assert said.calls == (ToolCall("p", "apply_patch", "*** patch"),)
    assert answer == tool("p", "ok")


def test_settings_and_tools_have_common_names() -> None:
    schema: JSON = {"type": "object"}
    function: JSONObject = {"name": "f", "description": "d", "parameters": schema}
    form: JSONObject = {"name": "n", "schema": schema}
    here = DIALECT.read_prompt(
        {
            "max_output_tokens": 9,
            "reasoning": {"effort": "low", "summary": None},
            "text": {"format": {"type": "json_schema", **form}},
            "tool_choice": {"type": "function", "name": "f"},
            "tools": [{"type": "function", "strict": False, **function}],
        }
    )
    there = CHAT.read_prompt(
        {
            "max_tokens": 9,
            "reasoning_effort": "low",
            "response_format": {"type": "json_schema", "json_schema": form},
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "tools": [{"type": "function", "function": function}],
        }
    )
    assert here.settings == there.settings
    assert here.tools == there.tools
    assert here.setting_pointers["response_format"] == "/text/format"


def response(*output: JSON, **fields: JSON) -> JSONObject:
    return {"id": "r", "model": "m", "status": "completed", "output": list(output), **fields}


def test_a_reply_is_one_message_equal_to_its_echo() -> None:
    reply = DIALECT.read_reply(response(THOUGHT, SAID, CALL))
    (echo,) = items(THOUGHT, SAID, CALL)
    assert reply.message == echo
    assert reply.message is not None
    assert reply.message.content == WHOLE.content
    assert (reply.finish, reply.finish_raw) == ("tool_calls", "completed")


@pytest.mark.parametrize(
    ("fields", "finish"),
    [
        ({}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ({"status": "incomplete", "incomplete_details": None}, "length"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "in_progress"}, None),
        ({"status": "failed"}, "failed"),
    ],
)
def test_the_status_becomes_a_common_finish(fields: JSONObject, finish: str | None) -> None:
    assert DIALECT.read_reply(response(SAID, **fields)).finish == finish


def test_usage_is_read() -> None:
    usage: JSON = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 6,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 16,
    }
    assert DIALECT.read_reply(response(usage=usage)).usage == Usage(10, 6, 16, 4, 2)


def added(index: int, item: JSON) -> JSONObject:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def pieces(kind: str, index: int, *texts: str) -> list[JSONObject]:
    return [{"type": f"response.{kind}.delta", "output_index": index, "delta": t} for t in texts]


GROWTH: list[JSONObject] = [
    {"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress"}},
    added(0, {"type": "reasoning", "summary": [], "encrypted_content": "e"}),
    *pieces("reasoning_summary_text", 0, "w", "hy"),
    added(1, {"type": "message", "role": "assistant", "content": []}),
    *pieces("output_text", 1, "s", "o"),
    added(2, {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""}),
    *pieces("function_call_arguments", 2, '{"a":', "1}"),
]


def test_a_stream_that_ends_is_read_from_its_last_event() -> None:
    whole = response(THOUGHT, SAID, CALL, usage={"input_tokens": 3, "output_tokens": 2})
    reply = stream_of(*GROWTH, {"type": "response.completed", "response": whole})
    assert reply.message == DIALECT.read_reply(whole).message
    assert (reply.finish, reply.finish_pointer) == ("tool_calls", "/stream/10")
    assert reply.usage == Usage(prompt=3, completion=2)
    assert reply.stream is not None
    assert (reply.stream.done, reply.stream.faults) == (True, ())
    assert reply.stream.call_deltas == (
        CallDelta(7, 2, "c", "f", None),
        CallDelta(8, 2, None, None, '{"a":'),
        CallDelta(9, 2, None, None, "1}"),
    )


@pytest.mark.parametrize("end", [[], [{"type": "response.completed", "response": response()}]])
def test_a_stream_that_broke_off_or_ends_bare_is_what_its_items_add_up_to(
    end: list[JSONObject],
) -> None:
    reply = stream_of(*GROWTH, *end)
    assert reply.message is not None
    assert reply.message == Message("assistant", (Reasoning("why", "e"), *WHOLE.parts))
    assert reply.finish == ("tool_calls" if end else None)
    assert reply.stream is not None
    assert reply.stream.done is bool(end)


def test_a_finished_item_replaces_its_pieces() -> None:
    done: JSONObject = {"type": "response.output_item.done", "output_index": 1, "item": SAID}
    reply = stream_of(*GROWTH[:5], done)
    assert reply.message is not None
    assert reply.message.parts[-1] == Text("so")


def test_a_failed_response_and_an_error_event_are_faults() -> None:
    failed = response(status="failed", error={"code": "x", "message": "broke"})
    events: list[JSONObject] = [
        {"type": "response.failed", "response": failed},
        {"type": "error", "code": "x", "message": "broke"},
    ]
    for event in events:
        reply = stream_of(*GROWTH, event)
        assert reply.error == "broke"
        assert reply.stream is not None
        assert [f.kind for f in reply.stream.faults] == ["error"]


def test_instructions_are_the_system_message() -> None:
    assert items(instructions="Plan.") == (system("Plan."),)
    assert items(instructions="") == ()
