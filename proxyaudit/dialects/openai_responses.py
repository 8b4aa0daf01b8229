"""The OpenAI Responses format over HTTP."""

from collections.abc import Iterator, Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Opaque, Part, Reasoning, Text, ToolCall
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault, Tool
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.fields import objects, path_of, value_of_text, word
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.parts import read_content, write_content, write_fields, write_result
from proxyaudit.dialects.responses_items import read_input
from proxyaudit.dialects.responses_reply import read_response_object
from proxyaudit.dialects.responses_stream import read_responses_stream
from proxyaudit.dialects.settings import grouped, named_choice, read_settings, renamed
from proxyaudit.dialects.tools import definition, read_tools, write_head

_STRUCTURE = frozenset(
    {"model", "stream", "input", "instructions", "tools", "previous_response_id"}
)
_INSTRUCTIONS = Memo[tuple[Message, ...]]()
_MARKS = ("input", "instructions", "previous_response_id", "prompt")
_OTHER_PATHS = ("/chat/completions", "/messages")


class OpenAIResponses:
    """See `dialects.base.Dialect`."""

    name = "openai-responses"
    framing: Framing = "events"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the path ending; elsewhere an input of items, or with what only this format has."""
        if "messages" in body:
            return False
        path = path_of(exchange)
        if path.endswith("/responses"):
            return any(mark in body for mark in _MARKS)
        if path.endswith(_OTHER_PATHS) or "input" not in body:
            return False
        own = any(mark in body for mark in ("instructions", "previous_response_id"))
        return own or any("role" in item for _, item in objects(body["input"]))

    def read_prompt(self, body: JSONObject) -> Prompt:
        """`instructions` are a system message before the items of `input`."""
        settings, pointers = read_settings(body, _STRUCTURE)
        return Prompt(
            messages=(
                *_instructions(body.get("instructions")),
                *read_input(body.get("input"), "/input"),
            ),
            tools=read_tools(body.get("tools")),
            model=word(body.get("model")),
            stream=body.get("stream") is True,
            settings=settings,
            setting_pointers=pointers,
            previous_id=word(body.get("previous_response_id")),
            messages_pointer="/input",
        )

    def read_reply(self, body: JSONObject) -> Reply:
        return read_response_object(body)

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        return read_responses_stream(events, faults)

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Media are written by their digest alone; assistant messages in a row become one."""
        body = write_head(prompt, _write_tool)
        messages = list(prompt.messages)
        if messages and (text := _only_text(messages[0])):
            body["instructions"] = text
            messages = messages[1:]
        body["input"] = [item for message in messages for item in _write_items(message)]
        if prompt.previous_id is not None:
            body["previous_response_id"] = prompt.previous_id
        return body | _write_settings(prompt)


def _instructions(value: JSON) -> tuple[Message, ...]:
    if isinstance(value, list):
        return read_input(value, "/instructions")
    return _INSTRUCTIONS.read(value, "/instructions", lambda wire: _system(value, wire))


def _system(value: JSON, wire: str) -> tuple[Message, ...]:
    parts = read_content(value, "/instructions")
    return (Message("system", parts, "/instructions", "system", wire),) if parts else ()


def _only_text(message: Message) -> str | None:
    parts = message.parts
    if message.role == "system" and len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return None


def _write_items(message: Message) -> Iterator[JSON]:
    if message.results:
        result = message.results[0]
        yield {
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": write_result(result, "input_text"),
            **write_fields(message.parts),
        }
    elif message.role == "assistant":
        yield from _write_said(message)
    else:
        role = message.raw_role if message.role == "system" and message.raw_role else message.role
        content = write_content(message.parts, "input_text")
        yield {"type": "message", "role": role, "content": content, **write_fields(message.parts)}


def _write_said(message: Message) -> Iterator[JSON]:
    """What the model said, in items: texts side by side share one."""
    content: list[Part] = []
    written = False
    for part in message.parts:
        item = _write_item(part)
        if item is None:
            content.append(part)
            continue
        if content:
            yield _said(content)
            content = []
        written = True
        yield item
    if content or not written:
        yield _said(content)


def _said(content: Sequence[Part]) -> JSONObject:
    parts = write_content(content, "output_text")
    return {"type": "message", "role": "assistant", "content": parts}


def _write_item(part: Part) -> JSONObject | None:
    """The item of a part that has one of its own; None for what stands in a message."""
    match part:
        case Reasoning(text, signature):
            thought: JSONObject = {"type": "reasoning", "summary": []}
            if text:
                thought["summary"] = [{"type": "summary_text", "text": text}]
            return thought | ({"encrypted_content": signature} if signature else {})
        case ToolCall(id_, name, arguments):
            call: JSONObject = {"type": "function_call", "call_id": id_, "name": name}
            return {**call, "arguments": arguments}
        case Opaque(kind) if kind != "refusal":
            value = value_of_text(part.value)
            return value if isinstance(value, dict) and "role" not in value else None
        case _:
            return None


def _write_tool(tool: Tool) -> JSON:
    is_function, fields = definition(tool)
    kind: JSONObject = {"type": "function"} if is_function else {}
    return {**kind, "name": tool.name, **fields}


def _write_settings(prompt: Prompt) -> JSONObject:
    body = grouped(prompt.settings, "reasoning", "text")
    if name := named_choice(body.get("tool_choice")):
        body["tool_choice"] = {"type": "function", "name": name}
    return renamed(body, {"max_tokens": "max_output_tokens"})


DIALECT = OpenAIResponses()
