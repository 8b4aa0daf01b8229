"""The Gemini format: `generateContent` and `streamGenerateContent`.

Model and stream stand in the path; `fields_of_path` puts them into the body that is read here.
"""

from collections.abc import Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import UNNAMED, Message, Opaque, Part, Reasoning, Text, ToolCall
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.fields import as_list, as_object, objects, path_of, value_of_text, word
from proxyaudit.dialects.gemini_content import read_contents, read_system
from proxyaudit.dialects.gemini_reply import GeminiStream, read_gemini_reply
from proxyaudit.dialects.gemini_tools import read_choice, read_declarations, write_tools
from proxyaudit.dialects.parts import write_content, write_media
from proxyaudit.dialects.settings import grouped, named_choice, read_settings
from proxyaudit.dialects.streams import StreamReader
from proxyaudit.dialects.tools import write_head

_VERBS = (":generatecontent", ":streamgeneratecontent")
_CHOICES = ("toolConfig", "tool_config")
_STRUCTURE = frozenset(
    {"model", "stream", "contents", "systemInstruction", "system_instruction", "tools", *_CHOICES}
)
_MODES: dict[str, JSON] = {"required": "ANY", "auto": "AUTO", "none": "NONE"}


class Gemini:
    """See `dialects.base.Dialect`. Calls may have no ids: `dialects.unnamed` pairs them."""

    name = "gemini"
    framing: Framing = "array"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the verb at the end of the path; without a verb by contents that have parts."""
        path = path_of(exchange)
        if path.endswith(_VERBS):
            return "contents" in body
        shaped = any("parts" in item for _, item in objects(body.get("contents")))
        return shaped and "messages" not in body and ":" not in path.rpartition("/")[2]

    def read_prompt(self, body: JSONObject) -> Prompt:
        settings, pointers = read_settings(body, _STRUCTURE)
        key = next((k for k in _CHOICES if k in body), None)
        if key and (choice := read_choice(body[key])) is not None:
            settings["tool_choice"], pointers["tool_choice"] = choice, f"/{key}"
        return Prompt(
            messages=(*read_system(body), *read_contents(body.get("contents"), "/contents")),
            tools=read_declarations(body.get("tools")),
            model=word(body.get("model")),
            stream=body.get("stream") is True,
            settings=settings,
            setting_pointers=pointers,
            messages_pointer="/contents",
        )

    def read_reply(self, body: JSONObject) -> Reply:
        return read_gemini_reply(body)

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        stream = GeminiStream(StreamReader(events, faults, has_sentinel=False))
        for event, body in stream.reader.objects():
            stream.take(event, body)
        return stream.reply()

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Media are written by their digest alone; unknown fields of messages are not."""
        body = write_head(prompt, lambda tool: tool.name)
        if prompt.tools:
            body["tools"] = write_tools(prompt.tools)
        messages = list(prompt.messages)
        if messages and messages[0].role == "system" and not messages[0].is_empty:
            body["systemInstruction"] = {"parts": _write_parts(messages.pop(0).parts)}
        names = {call.id: call.name for m in prompt.messages for call in m.calls}
        body["contents"] = _write_contents(messages, names)
        return body | _write_settings(prompt)


def _write_contents(messages: Sequence[Message], names: dict[str, str]) -> list[JSON]:
    """Results of parallel calls go into one content, as the format demands."""
    written: list[JSON] = []
    after_result = False
    for message in messages:
        if not message.results:
            role = {"assistant": "model"}.get(message.role, message.role)
            written.append({"role": role, "parts": _write_parts(message.parts)})
        elif after_result:
            as_list(as_object(written[-1])["parts"]).append(_write_result(message, names))
        else:
            written.append({"role": "user", "parts": [_write_result(message, names)]})
        after_result = bool(message.results)
    return written


def _write_result(message: Message, names: dict[str, str]) -> JSON:
    result = message.results[0]
    answer: JSONObject = {"name": names.get(result.call_id, "")}
    if not result.call_id.startswith(UNNAMED):
        answer["id"] = result.call_id
    answer["response"] = {"output": result.text}
    if result.media:
        answer["parts"] = [write_media(media) for media in result.media]
    return {"functionResponse": answer}


def _write_parts(parts: Sequence[Part]) -> list[JSON]:
    written: list[JSON] = []
    for part in parts:
        match part:
            case Text(text):
                written.append({"text": text})
            case Reasoning(text, signature):
                sealed: JSONObject = {"thoughtSignature": signature} if signature else {}
                written.append({"text": text, "thought": True, **sealed})
            case ToolCall():
                written.append({"functionCall": _write_call(part)})
            case Opaque(kind) if kind.startswith("field:"):
                pass
            case _:
                written += write_content([part], "text")
    return written


def _write_call(call: ToolCall) -> JSONObject:
    value = value_of_text(call.arguments) if call.arguments.strip() else {}
    arguments = value if isinstance(value, dict) else call.arguments
    head: JSONObject = {} if call.id.startswith(UNNAMED) else {"id": call.id}
    return {**head, "name": call.name, "args": arguments}


def _write_settings(prompt: Prompt) -> JSONObject:
    body = grouped(prompt.settings, "generationConfig")
    choice = body.pop("tool_choice", None)
    if name := named_choice(choice):
        body["toolConfig"] = {
            "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}
        }
    elif isinstance(choice, str) and choice in _MODES:
        body["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[choice]}}
    elif choice is not None:
        body["toolConfig"] = choice
    return body


DIALECT = Gemini()
