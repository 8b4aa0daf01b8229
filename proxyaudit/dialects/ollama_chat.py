"""Ollama's own chat format (`/api/chat`): arguments are objects, streams are JSON lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, Text, ToolCall
from proxyaudit.core.turn import CallDelta, Prompt, Reply, StreamEvent, StreamFault, Tool
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.fields import (
    as_list,
    as_text,
    error_of,
    path_of,
    word,
)
from proxyaudit.dialects.ollama_message import (
    finish_of,
    read_call,
    read_counts,
    read_history,
    read_said,
    write_message,
)
from proxyaudit.dialects.settings import grouped, named_choice, read_settings
from proxyaudit.dialects.streams import POINTER, StreamReader
from proxyaudit.dialects.tools import definition, read_tools, write_head
from proxyaudit.dialects.unnamed import with_call_ids

_STRUCTURE = frozenset({"model", "stream", "messages", "tools"})


class OllamaChat:
    """See `dialects.base.Dialect`. Calls may have no ids: `dialects.unnamed` pairs them."""

    name = "ollama-chat"
    framing: Framing = "lines"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the path ending: the shape is too much like that of chat completions."""
        return path_of(exchange).endswith("/api/chat") and isinstance(body.get("messages"), list)

    def read_prompt(self, body: JSONObject) -> Prompt:
        """A request that does not say otherwise asks for a stream."""
        settings, pointers = read_settings(body, _STRUCTURE)
        return Prompt(
            messages=read_history(body.get("messages"), "/messages"),
            tools=read_tools(body.get("tools")),
            model=word(body.get("model")),
            stream=body.get("stream") is not False,
            settings=settings,
            setting_pointers=pointers,
        )

    def read_reply(self, body: JSONObject) -> Reply:
        said = body.get("message")
        message = None
        if isinstance(said, dict):
            message = read_said({"role": "assistant", **said}, "/message")
        finish, raw = finish_of(body, bool(message and message.calls))
        return Reply(
            message=message,
            finish=finish,
            finish_raw=raw,
            finish_pointer="/done_reason",
            usage=read_counts(body, ""),
            model=word(body.get("model")),
            error=error_of(body),
        )

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        lines = _Lines(StreamReader(events, faults, has_sentinel=False))
        for event, body in lines.reader.objects():
            lines.take(event, body)
        return lines.reply()

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Media are written by their digest alone, and several thoughts of a message as one."""
        body = write_head(prompt, _write_tool)
        body["stream"] = prompt.stream
        names = {call.id: call.name for m in prompt.messages for call in m.calls}
        body["messages"] = [write_message(message, names) for message in prompt.messages]
        settings = grouped(prompt.settings, "options")
        if name := named_choice(settings.get("tool_choice")):
            settings["tool_choice"] = {"type": "function", "function": {"name": name}}
        return body | settings


def _write_tool(tool: Tool) -> JSON:
    is_function, fields = definition(tool)
    if is_function:
        return {"type": "function", "function": {"name": tool.name, **fields}}
    return {"name": tool.name, **fields}


@dataclass(slots=True)
class _Lines:
    """What the lines of a stream add up to; the last one says done and has the counts."""

    reader: StreamReader
    _thought: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _other: list[Part] = field(default_factory=list)
    _last: JSONObject = field(default_factory=dict)
    _event: int = 0
    _begun: bool = False
    _model: str | None = None

    def take(self, event: StreamEvent, body: JSONObject) -> None:
        if (error := error_of(body)) is not None:
            self.reader.failed(event, error)
        self._model = self._model or word(body.get("model"))
        if body.get("done") is True:
            self.reader.done = True
            self._last, self._event = body, event.number
        if isinstance(said := body.get("message"), dict):
            self._begun = True
            self._take_message(event, said)

    def _take_message(self, event: StreamEvent, said: JSONObject) -> None:
        thought, text = as_text(said.get("thinking")), as_text(said.get("content"))
        self._thought.append(thought)
        self._text.append(text)
        pieces = [thought, text]
        for call in as_list(said.get("tool_calls")):
            part = read_call(call, POINTER)
            self._other.append(part)
            if isinstance(part, ToolCall):
                pieces += [part.name, part.arguments]
                self.reader.deltas.append(self._delta(event, part))
        self.reader.saw(event, *pieces)

    def _delta(self, event: StreamEvent, call: ToolCall) -> CallDelta:
        number = sum(isinstance(part, ToolCall) for part in self._other) - 1
        return CallDelta(event.number, number, call.id or None, call.name, call.arguments)

    def reply(self) -> Reply:
        message = None
        if self._begun:
            message = Message(
                "assistant", tuple(with_call_ids(self._parts())), POINTER, "assistant"
            )
        finish, raw = finish_of(self._last, bool(message and message.calls))
        place = f"{POINTER}/{self._event}"
        return Reply(
            message=message,
            finish=finish,
            finish_raw=raw,
            finish_pointer=place if finish else POINTER,
            usage=read_counts(self._last, place),
            model=self._model,
            error=self.reader.error,
            stream=self.reader.stream(),
        )

    def _parts(self) -> Iterator[Part]:
        if thought := "".join(self._thought):
            yield Reasoning(thought, None, POINTER)
        if text := "".join(self._text):
            yield Text(text, POINTER)
        yield from self._other


DIALECT = OllamaChat()
