"""The Gemini format."""

import json
from typing import Any

import pytest

from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.core.message import Media, Reasoning, Text, ToolCall, ToolResult
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.dialects.anthropic_messages import DIALECT as MESSAGES
from proxyaudit.dialects.gemini import DIALECT
from proxyaudit.dialects.gemini_reply import read_gemini_reply
from proxyaudit.dialects.glance import Glance, glance
from proxyaudit.dialects.read import NotATurn, read_turn
from proxyaudit.engine import audit

PLAIN = "/v1beta/models/Some-Model:generateContent"


def says(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def result(name: str, text: str) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": text}}}


def exchange(
    id_: str, contents: list[Any], content: Any, at: float = 0.0, path: str = PLAIN, **more: Any
) -> Exchange:
    declared = [{"name": n, "parameters": {"type": "OBJECT"}} for n in ("read", "list")]
    ask = {"contents": contents, "tools": [{"functionDeclarations": declared}], **more}
    usage = {
        "promptTokenCount": 10 + 30 * len(contents),
        "candidatesTokenCount": 5,
        "totalTokenCount": 15 + 30 * len(contents),
    }
    candidate = {"content": content, "finishReason": "STOP"}
    answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "Some-Model"}
    request = Request("POST", f"http://h{path}", (), json.dumps(ask).encode())
    response = Response(200, (), json.dumps(answer).encode(), ended_at=0.5)
    return Exchange(id_, "client", 100 + at, request, response)


def test_model_and_stream_stand_in_the_path() -> None:
    streaming = PLAIN.replace("generate", "streamGenerate") + "?alt=sse"
    for path, stream in ((PLAIN, False), (streaming, True)):
        asked = exchange("1", [says("user", "hi")], says("model", "ho"), path=path)
        turn = read_turn(asked)
        assert isinstance(turn, Turn)
        assert (turn.dialect, turn.prompt.model, turn.prompt.stream) == (
            "gemini",
            "Some-Model",
            stream,
        )
        assert glance(asked) == Glance("Some-Model", 1)


@pytest.mark.parametrize("verb", ["countTokens", "embedContent", "batchGenerateContent"])
def test_other_verbs_are_no_turns(verb: str) -> None:
    path = f"/v1beta/models/Some-Model:{verb}"
    assert isinstance(read_turn(exchange("1", [says("user", "hi")], None, path=path)), NotATurn)


def test_a_request_is_read() -> None:
    body: Any = {
        "systemInstruction": says("system", "Be terse."),
        "contents": [
            says("user", "Look.", {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}),
            says(
                "model",
                {"text": "Read it.", "thought": True},
                {**call("read", n=1), "thoughtSignature": "sig"},
            ),
            says("user", result("read", "text"), "And?"),
        ],
        "tools": [
            {"functionDeclarations": [{"name": "read", "parameters": {"type": "OBJECT"}}]},
            {"googleSearch": {}},
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {"maxOutputTokens": 9, "topP": 0.5, "responseMimeType": "text/plain"},
        "safetySettings": [],
    }
    prompt = DIALECT.read_prompt(body)
    assert [(m.role, m.pointer) for m in prompt.messages] == [
        ("system", "/systemInstruction"),
        ("user", "/contents/0"),
        ("assistant", "/contents/1"),
        ("tool", "/contents/2/parts/0/functionResponse"),
        ("user", "/contents/2/parts/1"),
    ]
    assert [type(p) for p in prompt.messages[1].parts] == [Text, Media]
    assert prompt.messages[2].parts == (
        Reasoning("Read it.", "sig"),
        ToolCall("no id: read 1", "read", '{"n":1}'),
    )
    assert prompt.messages[3].parts == (ToolResult("no id: read 1", "text"),)
    assert [tool.name for tool in prompt.tools] == ["read", "googleSearch"]
    assert prompt.settings == {
        "max_tokens": 9,
        "top_p": 0.5,
        "generationConfig": {"responseMimeType": "text/plain"},
        "safetySettings": [],
        "tool_choice": "required",
    }


def test_a_tool_and_an_image_are_the_same_in_the_messages_format() -> None:
    schema = {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}}
    declared: Any = {"name": "read", "description": "Reads.", "parameters": schema}
    image: Any = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    here = DIALECT.read_prompt(
        {"contents": [says("user", image)], "tools": [{"functionDeclarations": [declared]}]}
    )
    lower: Any = {"type": "object", "properties": {"path": {"type": "string"}}}
    source: Any = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    there = MESSAGES.read_prompt(
        {
            "messages": [{"role": "user", "content": [{"type": "image", "source": source}]}],
            "tools": [{"name": "read", "description": "Reads.", "input_schema": lower}],
        }
    )
    assert here.tools == there.tools
    assert here.messages[0].content == there.messages[0].content


def test_both_spellings_of_names_are_read() -> None:
    """Clients by hand write system_instruction and function_call."""
    snake: Any = {
        "system_instruction": {"parts": {"text": "Be terse."}},
        "contents": [
            {"role": "model", "parts": [{"function_call": {"name": "read", "args": {}}}]},
            {"parts": [{"function_response": {"name": "read", "response": {"a": 1}}}]},
        ],
        "generation_config": {"maxOutputTokens": 9},
        "tool_config": {"function_calling_config": {"mode": "none"}},
    }
    prompt = DIALECT.read_prompt(snake)
    assert [m.role for m in prompt.messages] == ["system", "assistant", "tool"]
    assert prompt.messages[2].results[0].text == '{"a":1}'
    assert prompt.settings == {"max_tokens": 9, "tool_choice": "none"}


def test_what_the_model_said_is_one_message_in_however_many_pieces_it_comes_back() -> None:
    """Clients keep each piece of a stream as a content, or join them."""
    whole = says("model", "One two three.", call("read"))
    pieces = [says("model", "One "), says("model", "two", " three."), says("model", call("read"))]
    one = DIALECT.read_prompt({"contents": [says("user", "hi"), whole]}).messages
    many = DIALECT.read_prompt({"contents": [says("user", "hi"), *pieces]}).messages
    assert one == many


def test_a_reply_is_read() -> None:
    content = says("model", {"text": "Hm.", "thought": True}, "Read it.", call("read"))
    counts: Any = {
        "promptTokenCount": 7,
        "toolUsePromptTokenCount": 1,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 13,
    }
    reply = read_gemini_reply(
        {
            "candidates": [{"content": content, "finishReason": "STOP"}],
            "usageMetadata": counts,
            "responseId": "r",
        }
    )
    assert reply.message is not None
    assert reply.message.text == "Read it."
    assert (reply.finish, reply.finish_raw, reply.id) == ("tool_calls", "STOP", "r")
    assert reply.usage == Usage(prompt=8, completion=5, total=13, cached=4, reasoning=3)


@pytest.mark.parametrize(
    ("body", "finish", "error"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "content_filter", None),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length", None),
        (
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
            "MALFORMED_FUNCTION_CALL",
            None,
        ),
        ({"error": {"code": 429, "message": "slow down"}}, None, "slow down"),
    ],
)
def test_replies_that_say_nothing(body: Any, finish: str | None, error: str | None) -> None:
    reply = DIALECT.read_reply(body)
    assert (reply.finish, reply.error) == (finish, error)


def test_a_conversation_with_tools_is_clean() -> None:
    """The same tools called again and again, in parallel too, without any id."""
    history = [says("user", "Read both files and list the folder.")]
    replies = [
        says("model", call("read", path="a"), call("read", path="b")),
        says("model", "Now the folder.", call("list")),
        says("model", call("read", path="c")),
        says("model", "All is well."),
    ]
    exchanges = []
    for number, reply in enumerate(replies):
        exchanges.append(exchange(str(number), list(history), reply, at=number))
        names = [part["functionCall"]["name"] for part in reply["parts"] if "functionCall" in part]
        answers = [result(name, f"text {number} {n}") for n, name in enumerate(names)]
        history += [reply, says("user", *answers)] if answers else [reply]
    report = audit(Recording("x", tuple(exchanges))).report
    assert [c.exchanges for c in report.conversations] == [["0", "1", "2", "3"]]
    assert report.findings == []


def test_signed_thoughts_may_come_back_without_their_text() -> None:
    """Clients leave summaries of thoughts out and send the signature with the call."""
    first = says("user", "Read the file.")
    signed = {**call("read"), "thoughtSignature": "sig"}
    reply = says("model", {"text": "I will read.", "thought": True}, signed)
    later = [first, says("model", signed), says("user", result("read", "a"))]
    one = exchange("1", [first], reply)
    two = exchange("2", later, says("model", "Done."), at=1)
    assert audit(Recording("x", (one, two))).report.findings == []


def test_lost_calls_and_results_are_found() -> None:
    start = [says("user", "Read it."), says("model", call("read"), call("list"))]
    lost = exchange("1", [*start, says("user", result("read", "a"))], says("model", "Done."))
    assert [f.rule for f in audit(Recording("x", (lost,))).report.findings] == [
        "tool.unanswered_call"
    ]
    orphan = exchange(
        "1", [says("user", "Go."), says("user", result("read", "a"))], says("model", "Done.")
    )
    assert [f.rule for f in audit(Recording("x", (orphan,))).report.findings] == [
        "tool.orphan_result"
    ]
