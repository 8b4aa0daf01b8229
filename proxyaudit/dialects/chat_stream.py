"""Streams of chat completions: chunks added up to a reply."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, Text
from proxyaudit.core.turn import CallDelta, Reply, StreamEvent, StreamFault, Usage
from proxyaudit.dialects.chat_message import THOUGHTS, thought_in
from proxyaudit.dialects.fields import (
    as_object,
    as_text,
    dump,
    error_of,
    finish_word,
    integer,
    objects,
    opaque,
    side_counts,
    word,
)
from proxyaudit.dialects.parts import read_content
from proxyaudit.dialects.streams import POINTER, CallAssembler, StreamReader


def read_chat_stream(events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
    """The reply that the chunks add up to; `message` is None if no choice came."""
    chunks = _Chunks(StreamReader(events, faults))
    for event, body in chunks.reader.objects():
        chunks.take(event, body)
    return chunks.reply()


@dataclass(slots=True)
class _Choice:
    """What has come for one choice."""

    text: list[str] = field(default_factory=list)
    thought: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    other: list[Part] = field(default_factory=list)
    calls: CallAssembler = field(default_factory=CallAssembler)
    finish: str | None = None
    finish_event: int = 0

    def message(self) -> Message:
        return Message("assistant", tuple(self._parts()), POINTER, "assistant")

    def _parts(self) -> Iterator[Part]:
        thought, signature = "".join(self.thought), "".join(self.signature)
        if thought or signature:
            yield Reasoning(thought, signature or None, POINTER)
        if text := "".join(self.text):
            yield Text(text, POINTER)
        yield from self.other
        if refusal := "".join(self.refusal):
            yield opaque("refusal", refusal, POINTER)
        yield from self.calls.calls()


class _Chunks:
    def __init__(self, reader: StreamReader) -> None:
        self.reader = reader
        self._choices: dict[int, _Choice] = {}
        self._usage: Usage | None = None
        self._model: str | None = None
        self._id: str | None = None

    def take(self, event: StreamEvent, body: JSONObject) -> None:
        error = error_of(body)
        if error is None and event.name == "error":
            error = as_text(body.get("message")) or dump(body)
        if error is not None:
            self.reader.failed(event, error)
        self._model = self._model or word(body.get("model"))
        self._id = self._id or word(body.get("id"))
        place = f"{POINTER}/{event.number}"
        self._usage = side_counts(body.get("usage"), "prompt", "completion", place) or self._usage
        for _, item in objects(body.get("choices")):
            self._take_choice(event, item)

    def _take_choice(self, event: StreamEvent, item: JSONObject) -> None:
        number = integer(item.get("index")) or 0
        choice = self._choices.setdefault(number, _Choice())
        if finish := word(item.get("finish_reason")):
            choice.finish, choice.finish_event = finish, event.number
        # A few servers send the whole message in the place of a delta; completions have plain text.
        delta = as_object(item.get("delta")) or as_object(item.get("message"))
        if not delta and "text" in item:
            delta = {"content": item["text"]}
        pieces = [*_take_text(choice, delta), *_take_thought(choice, delta)]
        for call in _deltas(event.number, delta):
            choice.calls.add(call)
            pieces += [call.name or "", call.arguments or ""]
            if number == min(self._choices):
                self.reader.deltas.append(call)
        self.reader.saw(event, *pieces)

    def reply(self) -> Reply:
        choices = [self._choices[number] for number in sorted(self._choices)]
        first = choices[0] if choices else _Choice()
        return Reply(
            message=first.message() if choices else None,
            finish=finish_word(first.finish),
            finish_raw=first.finish,
            finish_pointer=f"{POINTER}/{first.finish_event}" if first.finish else POINTER,
            usage=self._usage,
            model=self._model,
            id=self._id,
            error=self.reader.error,
            stream=self.reader.stream(),
            more=tuple(choice.message() for choice in choices[1:]),
        )


def _take_text(choice: _Choice, delta: JSONObject) -> list[str]:
    content, refusal = delta.get("content"), as_text(delta.get("refusal"))
    if refusal:
        choice.refusal.append(refusal)
    if isinstance(content, str):
        choice.text.append(content)
        return [content, refusal]
    pieces = [refusal]
    for part in read_content(content, POINTER):
        if isinstance(part, Text):
            choice.text.append(part.text)
            pieces.append(part.text)
        elif isinstance(part, Reasoning):
            choice.thought.append(part.text)
            pieces.append(part.text)
        else:
            choice.other.append(part)
    return pieces


def _take_thought(choice: _Choice, delta: JSONObject) -> list[str]:
    text, signature = "", ""
    for key in THOUGHTS:
        if key in delta:
            found, signed = thought_in(delta[key])
            text, signature = text or found, signature or signed or ""
    if not text and not signature:
        return []
    choice.thought.append(text)
    choice.signature.append(signature)
    return [text]


def _deltas(number: int, delta: JSONObject) -> Iterator[CallDelta]:
    if "tool_calls" not in delta and "function_call" not in delta:
        return  # nearly every event
    for _, item in objects(delta.get("tool_calls")):
        inner = as_object(item.get("function")) or as_object(item.get("custom"))
        arguments = inner.get("arguments", inner.get("input"))
        yield CallDelta(
            event=number,
            index=integer(item.get("index")),
            id=_sent(item.get("id")),
            name=_sent(inner.get("name")),
            arguments=arguments if arguments is None else _argument_piece(arguments),
        )
    legacy = delta.get("function_call")
    if isinstance(legacy, dict):
        # The old form has one call and neither index nor id; its answer names the function.
        name = _sent(legacy.get("name"))
        yield CallDelta(number, 0, name, name, _sent(legacy.get("arguments")))


def _sent(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _argument_piece(value: JSON) -> str:
    return value if isinstance(value, str) else dump(value)
