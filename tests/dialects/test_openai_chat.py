"""Chat completions: requests, plain replies and streams, well-formed or as servers send them."""

import json

import pytest

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    system,
    tool,
    user,
)
from proxyaudit.core.turn import CallDelta, Reply
from proxyaudit.dialects.openai_chat import DIALECT
from proxyaudit.wire.sse import decode


def prompt_of(*messages: JSON) -> tuple[Message, ...]:
    return DIALECT.read_prompt({"messages": list(messages)}).messages


def stream_of(*chunks: JSON, done: bool = True) -> Reply:
    frames = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
    body = "".join([*frames, "data: [DONE]\n\n"] if done else frames).encode()
    return DIALECT.read_stream(*decode(body, (), False))


def delta(**fields: JSON) -> JSONObject:
    return {"id": "r", "model": "m", "choices": [{"index": 0, "delta": dict(fields)}]}


def call(**fields: JSON) -> JSONObject:
    return delta(tool_calls=[dict(fields)])


CALL: JSONObject = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_the_four_roles_are_read_with_their_places() -> None:
    messages = prompt_of(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    )
    call_part = ToolCall("c", "f", "{}")
    assert messages == (
        system("Be brief."),
        user("Hi"),
        assistant("", call_part),
        tool("c", "done"),
    )
    assert [m.pointer for m in messages] == [f"/messages/{n}" for n in range(4)]
    assert [m.parts[0].pointer for m in messages] == [
        "/messages/0/content",
        "/messages/1/content/0",
        "/messages/2/tool_calls/0",
        "/messages/3",
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (
            {"role": "user", "content": "x"},
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
        ),
        ({"role": "developer", "content": "x"}, {"role": "system", "content": "x"}),
        (
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "assistant", "content": "", "tool_calls": [{**CALL, "index": 0}]},
        ),
        (
            {"role": "assistant", "content": "", "tool_calls": [CALL]},
            {"tool_calls": [CALL], "role": "assistant", "annotations": [], "refusal": None},
        ),
        (
            {"role": "assistant", "content": "x", "provider_specific_fields": {"a": 1}},
            {"role": "assistant", "content": "x", "audio": None, "function_call": None},
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"a": 1}}]},
            {"role": "user", "content": "x"},
        ),
    ],
)
def test_shape_does_not_change_the_content(left: JSONObject, right: JSONObject) -> None:
    one, two = prompt_of(left, right)
    assert one.content == two.content
    assert one.wire != two.wire


def test_the_order_of_keys_is_part_of_the_wire_and_not_of_the_content() -> None:
    one, two = prompt_of({"role": "user", "content": "x"}, {"content": "x", "role": "user"})
    assert (one.content, one.wire == two.wire) == (two.content, False)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
def test_reasoning_is_read_from_any_of_its_fields(field: str) -> None:
    (message,) = prompt_of({"role": "assistant", "content": "a", field: "because"})
    assert message == assistant("a", reasoning="because")
    assert message.parts[0].pointer == f"/messages/0/{field}"


def test_reasoning_details_give_text_and_signature_once() -> None:
    details: JSON = [{"type": "reasoning.text", "text": "because", "signature": "s"}]
    (message,) = prompt_of(
        {"role": "assistant", "content": "a", "reasoning": "because", "reasoning_details": details}
    )
    assert message.thoughts == (Reasoning("because", "s"),)


def test_media_and_unknown_parts_are_kept() -> None:
    (message,) = prompt_of(
        {
            "role": "user",
            "name": "Ann",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "input_audio", "input_audio": {"data": "BBBB", "format": "wav"}},
                {"type": "file", "file": {"file_id": "f1"}},
                {"type": "hologram", "z": 1},
            ],
        }
    )
    kinds = [part.kind for part in message.parts if isinstance(part, Media | Opaque)]
    assert kinds == ["image", "audio", "file", "hologram", "field:name"]
    assert message.parts[3] == Opaque("hologram", '{"type":"hologram","z":1}')


def test_an_old_function_call_and_its_answer_belong_together() -> None:
    said, answer = prompt_of(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    )
    assert said.calls == (ToolCall("f", "f", "{}"),)
    assert answer == tool("f", "done")


def test_settings_get_common_names_and_keep_their_places() -> None:
    prompt = DIALECT.read_prompt(
        {
            "model": "m",
            "stream": True,
            "messages": [],
            "max_completion_tokens": 9,
            "stop": "END",
            "tool_choice": {"type": "function", "function": {"name": "f"}},
            "reasoning": {"effort": "low", "exclude": True},
            "temperature": 0,
            "seed": None,
        }
    )
    assert prompt.settings == {
        "max_tokens": 9,
        "stop": ["END"],
        "tool_choice": {"name": "f"},
        "reasoning_effort": "low",
        "reasoning": {"exclude": True},
        "temperature": 0,
    }
    assert prompt.setting_pointers["max_tokens"] == "/max_completion_tokens"
    assert prompt.setting_pointers["reasoning_effort"] == "/reasoning/effort"
    assert (prompt.model, prompt.stream) == ("m", True)


def test_a_plain_reply_is_read() -> None:
    reply = DIALECT.read_reply(
        {
            "id": "r1",
            "model": "m-2026",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
                    "finish_reason": "function_call",
                },
                {"index": 1, "message": {"role": "assistant", "content": "b"}},
            ],
            "usage": {
                "prompt_tokens": 5,
                "completion_tokens": 3,
                "total_tokens": 8,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
        }
    )
    assert reply.message == assistant("", ToolCall("c", "f", "{}"))
    assert reply.message.pointer == "/choices/0/message"
    assert (reply.finish, reply.finish_raw) == ("tool_calls", "function_call")
    assert reply.more == (assistant("b"),)
    assert reply.usage is not None
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.reasoning) == (5, 4, 2)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"message": "too long", "code": 400}, "too long"),
        ("bad", "bad"),
        ({"code": 7}, '{"code":7}'),
    ],
)
def test_an_error_object_is_read(error: JSON, text: str) -> None:
    reply = DIALECT.read_reply({"error": error})
    assert (reply.error, reply.message) == (text, None)


def test_a_stream_adds_up_to_the_plain_reply() -> None:
    reply = stream_of(
        delta(role="assistant", content=""),
        delta(reasoning_content="be"),
        delta(reasoning_content="cause"),
        delta(content="An"),
        delta(content="swer"),
        call(index=0, id="c", function={"name": "f", "arguments": ""}),
        call(index=0, function={"arguments": '{"a":'}),
        call(index=1, id="d", function={"name": "g", "arguments": "{}"}),
        call(index=0, function={"arguments": "1}"}),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}},
    )
    calls = (ToolCall("c", "f", '{"a":1}'), ToolCall("d", "g", "{}"))
    assert reply.message == assistant("Answer", *calls, reasoning="because")
    assert (reply.finish, reply.finish_pointer) == ("tool_calls", "/stream/9")
    assert reply.usage is not None
    assert (reply.usage.total, reply.usage.pointer) == (7, "/stream/10")
    assert reply.stream is not None
    assert (reply.stream.done, reply.stream.faults) == (True, ())
    assert (reply.id, reply.model) == ("r", "m")


def test_call_pieces_are_kept_as_sent() -> None:
    reply = stream_of(
        call(id="i", function={"name": "f", "arguments": "{}"}),
        call(index=0, id="", function={"name": "null", "arguments": None}),
    )
    assert reply.stream is not None
    assert reply.stream.call_deltas == (
        CallDelta(0, None, "i", "f", "{}"),
        CallDelta(1, 0, "", "null", None),
    )


def test_two_calls_under_one_index_stay_two() -> None:
    reply = stream_of(
        call(index=0, id="p", function={"name": "f", "arguments": "{}"}),
        call(index=0, id="q", function={"name": "f", "arguments": "{"}),
        call(index=0, function={"arguments": "}"}),
    )
    assert reply.message is not None
    assert reply.message.calls == (ToolCall("p", "f", "{}"), ToolCall("q", "f", "{}"))


def test_pieces_without_index_go_to_the_call_with_their_id_or_to_the_last() -> None:
    reply = stream_of(
        call(id="p", function={"name": "f", "arguments": "{"}),
        call(function={"arguments": '"a":'}),
        call(id="p", function={"arguments": "1}"}),
    )
    assert reply.message is not None
    assert reply.message.calls == (ToolCall("p", "f", '{"a":1}'),)


def test_the_word_null_does_not_become_part_of_a_name() -> None:
    reply = stream_of(
        call(index=0, id="q", function={"name": "list_dir", "arguments": '{"a":'}),
        call(index=0, id="", function={"name": "null", "arguments": "1}"}),
    )
    assert reply.message is not None
    assert reply.message.calls == (ToolCall("q", "list_dir", '{"a":1}'),)


def faults_of(body: bytes) -> list[tuple[str, int]]:
    stream = DIALECT.read_stream(*decode(body, (), False)).stream
    assert stream is not None
    return [(fault.kind, fault.event) for fault in stream.faults]


def test_a_frame_that_is_no_json_is_a_fault_and_a_torn_one_is_told_once() -> None:
    assert faults_of(b"data: : ping\n\ndata: {}\n\ndata: [1]\n\n") == [
        ("bad_json", 0),
        ("bad_json", 2),
    ]
    assert faults_of(b'data: {}\n\ndata: {"choi') == [("torn", 1)]


def test_an_error_inside_a_stream_is_a_fault_and_the_error_of_the_reply() -> None:
    reply = stream_of(delta(content="The "), {"error": {"message": "overloaded", "code": 502}})
    assert reply.error == "overloaded"
    assert reply.stream is not None
    assert [(f.kind, f.event) for f in reply.stream.faults] == [("error", 1)]


def test_a_replacement_character_in_the_text_is_told_once_an_event() -> None:
    reply = stream_of(delta(content="Zürich"), delta(content="Z\ufffd\ufffdrich"))
    assert reply.stream is not None
    assert [(f.kind, f.event) for f in reply.stream.faults] == [("replacement", 1)]
    bad = b'data: {"choices":[{"delta":{"content":"Z\xc3"}}]}\n\n'
    assert faults_of(bad) == [("bad_utf8", 0)]


def test_a_stream_without_sentinel_is_not_done_and_one_without_choices_says_nothing() -> None:
    reply = stream_of(delta(content="x"), done=False)
    assert reply.stream is not None
    assert not reply.stream.done
    assert stream_of().message is None
    assert stream_of(delta(role="assistant")).message == Message("assistant", ())


def test_further_choices_of_a_stream_are_kept_apart() -> None:
    first: JSON = {"choices": [{"index": 1, "delta": {"content": "b"}}]}
    second: JSON = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    reply = stream_of(first, second)
    assert (reply.message, reply.more) == (assistant("a"), (assistant("b"),))


def test_a_result_with_an_image_keeps_its_text_and_its_media() -> None:
    image: JSON = {"type": "image_url", "image_url": {"url": "http://x/y.png"}}
    (message,) = prompt_of(
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "see"}, image]}
    )
    (result,) = message.parts
    assert isinstance(result, ToolResult)
    assert (result.text, [item.kind for item in result.media]) == ("see", ["image"])


def test_empty_text_is_no_part() -> None:
    (message,) = prompt_of({"role": "user", "content": [{"type": "text", "text": ""}]})
    assert message.parts == ()
    assert prompt_of({"role": "user", "content": "x"})[0].parts == (Text("x"),)
