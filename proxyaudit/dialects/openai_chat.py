"""The OpenAI chat completions format, and what its many servers make of it."""

from collections.abc import Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault, Tool
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.chat_message import read_message, read_messages
from proxyaudit.dialects.chat_stream import read_chat_stream
from proxyaudit.dialects.fields import (
    as_object,
    as_text,
    error_of,
    finish_word,
    looks_like_anthropic,
    objects,
    path_of,
    side_counts,
    word,
)
from proxyaudit.dialects.parts import simplest, write_content, write_fields, write_result
from proxyaudit.dialects.settings import named_choice, read_settings
from proxyaudit.dialects.tools import definition, read_tools, write_head

_STRUCTURE = frozenset({"model", "stream", "messages", "tools", "functions"})
_OTHER_PATHS = ("/messages", "/responses", "/api/chat")


class OpenAIChat:
    """See `dialects.base.Dialect`."""

    name = "openai-chat"
    framing: Framing = "events"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the path ending; elsewhere by the shape: `messages` without marks of Anthropic's."""
        if not isinstance(body.get("messages"), list):
            return False
        path = path_of(exchange)
        if path.endswith("/chat/completions"):
            return True
        return not path.endswith(_OTHER_PATHS) and not looks_like_anthropic(body)

    def read_prompt(self, body: JSONObject) -> Prompt:
        settings, pointers = read_settings(body, _STRUCTURE)
        functions = read_tools(body.get("functions"), "/functions")
        return Prompt(
            messages=read_messages(body.get("messages"), "/messages"),
            tools=(*read_tools(body.get("tools")), *functions),
            model=word(body.get("model")),
            stream=body.get("stream") is True,
            settings=settings,
            setting_pointers=pointers,
        )

    def read_reply(self, body: JSONObject) -> Reply:
        choices = list(objects(body.get("choices")))
        messages = [_choice_message(at, choice) for at, choice in choices]
        first = choices[0][1] if choices else {}
        raw = word(first.get("finish_reason"))
        return Reply(
            message=messages[0] if messages else None,
            finish=finish_word(raw),
            finish_raw=raw,
            finish_pointer=f"/choices/{choices[0][0]}/finish_reason" if choices else "",
            usage=side_counts(body.get("usage"), "prompt", "completion", "/usage"),
            model=word(body.get("model")),
            id=word(body.get("id")),
            error=error_of(body),
            more=tuple(messages[1:]),
        )

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        return read_chat_stream(events, faults)

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Media are written by their digest alone, and several thoughts of a message as one."""
        body = write_head(prompt, _write_tool)
        body["messages"] = [_write_message(message) for message in prompt.messages]
        for key, value in prompt.settings.items():
            body[key] = _write_setting(key, value)
        return body


def _choice_message(at: int, choice: JSONObject) -> Message:
    message = choice.get("message")
    if isinstance(message, dict):
        return read_message({"role": "assistant", **message}, f"/choices/{at}/message")
    pointer = f"/choices/{at}/text"
    text = as_text(choice.get("text"))
    return Message("assistant", (Text(text, pointer),) if text else (), pointer, "assistant")


def _write_message(message: Message) -> JSON:
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    role = message.raw_role if message.role == "system" and message.raw_role else message.role
    written: JSONObject = {"role": role}
    if results:
        written |= {
            "tool_call_id": results[0].call_id,
            "content": write_result(results[0], "text"),
        }
    else:
        content = write_content(message.parts, "text")
        written["content"] = simplest(content) if content else None
    written |= _write_thoughts(message.thoughts)
    if message.calls:
        written["tool_calls"] = [_write_call(call) for call in message.calls]
    return {**written, **write_fields(message.parts)}


def _write_thoughts(thoughts: Sequence[Reasoning]) -> JSONObject:
    if not thoughts:
        return {}
    text = "".join(thought.text for thought in thoughts)
    signature = next((thought.signature for thought in thoughts if thought.signature), None)
    if signature is None:
        return {"reasoning_content": text}
    detail: JSONObject = {"type": "reasoning.text", "text": text, "signature": signature}
    return {"reasoning_details": [detail]}


def _write_call(call: ToolCall) -> JSON:
    function: JSONObject = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _write_tool(tool: Tool) -> JSON:
    is_function, fields = definition(tool)
    if is_function:
        return {"type": "function", "function": {"name": tool.name, **fields}}
    return {"name": tool.name, **fields}


def _write_setting(key: str, value: JSON) -> JSON:
    name = named_choice(value)
    if key == "tool_choice" and name:
        return {"type": "function", "function": {"name": name}}
    form = as_object(value)
    if key == "response_format" and form.get("type") == "json_schema":
        schema: JSONObject = {inner: item for inner, item in form.items() if inner != "type"}
        return {"type": "json_schema", "json_schema": schema}
    return value


DIALECT = OpenAIChat()
