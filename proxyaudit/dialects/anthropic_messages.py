"""The Anthropic Messages format."""

from collections.abc import Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Opaque, Reasoning, ToolCall, ToolResult
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault, Tool
from proxyaudit.dialects.anthropic_content import (
    read_blocks,
    read_messages,
    read_system,
    read_usage,
)
from proxyaudit.dialects.anthropic_stream import read_anthropic_stream
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    error_of,
    finish_word,
    looks_like_anthropic,
    path_of,
    value_of_text,
    wire_of,
    word,
)
from proxyaudit.dialects.parts import simplest, write_content, write_fields, write_result
from proxyaudit.dialects.settings import grouped, named_choice, read_settings, renamed
from proxyaudit.dialects.tools import definition, read_tools, write_head

_STRUCTURE = frozenset({"model", "stream", "messages", "system", "tools"})
_OTHER_PATHS = ("/chat/completions", "/responses", "/api/chat")


class AnthropicMessages:
    """See `dialects.base.Dialect`."""

    name = "anthropic-messages"
    framing: Framing = "events"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the path ending; elsewhere by marks that only this format has."""
        if not isinstance(body.get("messages"), list):
            return False
        path = path_of(exchange)
        if path.endswith("/messages"):
            return True
        return not path.endswith(_OTHER_PATHS) and looks_like_anthropic(body)

    def read_prompt(self, body: JSONObject) -> Prompt:
        """Each tool result is a message of its own; text around results is a user message."""
        settings, pointers = read_settings(body, _STRUCTURE)
        history = read_messages(body.get("messages"), "/messages")
        return Prompt(
            messages=(*read_system(body.get("system")), *history),
            tools=read_tools(body.get("tools")),
            model=word(body.get("model")),
            stream=body.get("stream") is True,
            settings=settings,
            setting_pointers=pointers,
        )

    def read_reply(self, body: JSONObject) -> Reply:
        raw = word(body.get("stop_reason"))
        message = None
        if "content" in body:
            content = body["content"]
            parts = tuple(read_blocks(content, "/content"))
            message = Message("assistant", parts, "/content", "assistant", wire_of(content))
        return Reply(
            message=message,
            finish=finish_word(raw),
            finish_raw=raw,
            finish_pointer="/stop_reason",
            usage=read_usage(body.get("usage"), "/usage"),
            model=word(body.get("model")),
            id=word(body.get("id")),
            error=error_of(body),
        )

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        return read_anthropic_stream(events, faults)

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Media are written by their digest alone; arguments that are no object as their text."""
        body = write_head(prompt, _write_tool)
        messages = list(prompt.messages)
        if messages and messages[0].role == "system" and not messages[0].is_empty:
            body["system"] = simplest(write_content(messages.pop(0).parts, "text"))
        body["messages"] = _write_messages(messages)
        return body | _write_settings(prompt)


def _write_messages(messages: Sequence[Message]) -> list[JSON]:
    """Results of parallel calls go into one user message, as the format demands."""
    written: list[JSON] = []
    after_result = False
    for message in messages:
        if not message.results:
            role = message.role if message.role != "system" else message.raw_role or "system"
            content = simplest(_write_blocks(message))
            written.append({"role": role, "content": content, **write_fields(message.parts)})
        elif after_result:
            as_list(as_object(written[-1])["content"]).append(_write_result(message))
        else:
            written.append({"role": "user", "content": [_write_result(message)]})
        after_result = bool(message.results)
    return written


def _write_result(message: Message) -> JSON:
    result = message.results[0]
    block: JSONObject = {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": write_result(result, "text"),
    }
    return block | write_fields(message.parts)


def _write_blocks(message: Message) -> list[JSON]:
    blocks: list[JSON] = []
    for part in message.parts:
        match part:
            case Reasoning("", str(signature)):
                blocks.append({"type": "redacted_thinking", "data": signature})
            case Reasoning(text, None):
                blocks.append({"type": "thinking", "thinking": text})
            case Reasoning(text, signature):
                blocks.append({"type": "thinking", "thinking": text, "signature": signature})
            case ToolCall(id_, name, arguments):
                value = value_of_text(arguments) if arguments.strip() else {}
                given = value if isinstance(value, dict) else arguments
                blocks.append({"type": "tool_use", "id": id_, "name": name, "input": given})
            case ToolResult() | Opaque(kind="field:is_error"):
                pass
            case _:
                blocks += write_content([part], "text")
    return blocks


def _write_tool(tool: Tool) -> JSON:
    is_function, fields = definition(tool)
    if is_function:
        schema = fields.pop("parameters", None)
        return {"name": tool.name, **fields, "input_schema": schema}
    return {"name": tool.name, **fields}


def _write_settings(prompt: Prompt) -> JSONObject:
    body = renamed(grouped(prompt.settings, "output_config"), {"stop": "stop_sequences"})
    choice = body.get("tool_choice")
    if name := named_choice(choice):
        body["tool_choice"] = {"type": "tool", "name": name}
    elif isinstance(choice, str):
        body["tool_choice"] = {"type": "any" if choice == "required" else choice}
    written = body.get("tool_choice")
    if isinstance(written, dict) and body.get("parallel_tool_calls") is False:
        del body["parallel_tool_calls"]
        body["tool_choice"] = {**written, "disable_parallel_tool_use": True}
    return body


DIALECT = AnthropicMessages()
