"""Replies of the Gemini format: a stream is a row of plain replies, each with what is new."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, Text, ToolCall
from proxyaudit.core.turn import CallDelta, Reply, StreamEvent, Usage
from proxyaudit.dialects.fields import as_object, error_of, integer, objects, word
from proxyaudit.dialects.gemini_content import count_of, joined, read_parts, said_message
from proxyaudit.dialects.streams import POINTER, StreamReader
from proxyaudit.dialects.unnamed import with_call_ids

_FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
        "content_filter",
    ),
}


def read_gemini_reply(body: JSONObject) -> Reply:
    """The reply in a plain body. `STOP` with calls counts as tool_calls."""
    candidates = list(objects(body.get("candidates")))
    messages = [_said(item, f"/candidates/{at}/content") for at, item in candidates]
    at, first = candidates[0] if candidates else (0, {})
    raw = word(first.get("finishReason"))
    finish, pointer = _finish(raw, messages[:1]), f"/candidates/{at}/finishReason"
    if raw is None and (blocked := _blocked(body)):
        raw, finish, pointer = blocked, "content_filter", "/promptFeedback/blockReason"
    return Reply(
        message=messages[0] if messages else None,
        finish=finish,
        finish_raw=raw,
        finish_pointer=pointer,
        usage=_usage(body.get("usageMetadata"), "/usageMetadata"),
        model=word(body.get("modelVersion")),
        id=word(body.get("responseId")),
        error=error_of(body),
        more=tuple(messages[1:]),
    )


def _said(candidate: JSONObject, pointer: str) -> Message:
    return said_message([(pointer, candidate.get("content"))], pointer)


def _finish(raw: str | None, said: Sequence[Message]) -> str | None:
    if raw is None:
        return None
    finish = _FINISH.get(raw, raw)
    return "tool_calls" if finish == "stop" and said and said[0].calls else finish


def _blocked(body: JSONObject) -> str | None:
    """Why a prompt was refused; there is no candidate then."""
    return word(as_object(body.get("promptFeedback")).get("blockReason"))


def _usage(value: JSON, pointer: str) -> Usage | None:
    """Counts with thoughts in the completion and what tools added in the prompt, as elsewhere."""
    if not isinstance(value, dict):
        return None
    return Usage(
        prompt=count_of(value, "promptTokenCount", "toolUsePromptTokenCount"),
        completion=count_of(value, "candidatesTokenCount", "thoughtsTokenCount"),
        total=integer(value.get("totalTokenCount")),
        cached=integer(value.get("cachedContentTokenCount")),
        reasoning=integer(value.get("thoughtsTokenCount")),
        pointer=pointer,
    )


@dataclass(slots=True)
class _Candidate:
    """What has come for one candidate."""

    parts: list[Part] = field(default_factory=list)
    finish: str | None = None
    event: int = 0

    def message(self) -> Message:
        told = tuple(with_call_ids(joined(self.parts)))
        return Message("assistant", told, POINTER, "model")


@dataclass(slots=True)
class GeminiStream:
    """Adds up the events of a stream."""

    reader: StreamReader
    _candidates: dict[int, _Candidate] = field(default_factory=dict)
    _usage: Usage | None = None
    _model: str | None = None
    _id: str | None = None
    _blocked: str | None = None
    _calls: int = 0

    def take(self, event: StreamEvent, body: JSONObject) -> None:
        if (error := error_of(body)) is not None:
            self.reader.failed(event, error)
        place = f"{POINTER}/{event.number}"
        self._usage = _usage(body.get("usageMetadata"), place) or self._usage
        self._model = self._model or word(body.get("modelVersion"))
        self._id = self._id or word(body.get("responseId"))
        self._blocked = self._blocked or _blocked(body)
        for _, item in objects(body.get("candidates")):
            self._take_candidate(event, item)

    def _take_candidate(self, event: StreamEvent, item: JSONObject) -> None:
        number = integer(item.get("index")) or 0
        candidate = self._candidates.setdefault(number, _Candidate())
        if raw := word(item.get("finishReason")):
            candidate.finish, candidate.event = raw, event.number
        new = [replace(part, pointer=POINTER) for part in read_parts(item.get("content"), POINTER)]
        candidate.parts += new
        if number == min(self._candidates):
            self._note_calls(event, new)
        self.reader.saw(event, *(_piece(part) for part in new))

    def _note_calls(self, event: StreamEvent, parts: Iterable[Part]) -> None:
        for part in parts:
            if isinstance(part, ToolCall):
                sent = part.id or None
                delta = CallDelta(event.number, self._calls, sent, part.name, part.arguments)
                self.reader.deltas.append(delta)
                self._calls += 1

    def reply(self) -> Reply:
        candidates = [self._candidates[number] for number in sorted(self._candidates)]
        messages = [candidate.message() for candidate in candidates]
        raw = candidates[0].finish if candidates else None
        finish, event = _finish(raw, messages), candidates[0].event if candidates else 0
        if raw is None and self._blocked:
            raw, finish = self._blocked, "content_filter"
        # A finish reason is how these streams end; there is no sentinel after it.
        self.reader.done = finish is not None
        return Reply(
            message=messages[0] if messages else None,
            finish=finish,
            finish_raw=raw,
            finish_pointer=f"{POINTER}/{event}" if finish else POINTER,
            usage=self._usage,
            model=self._model,
            id=self._id,
            error=self.reader.error,
            stream=self.reader.stream(),
            more=tuple(messages[1:]),
        )


def _piece(part: Part) -> str:
    match part:
        case Text(text) | Reasoning(text):
            return text
        case ToolCall(_, name, arguments):
            return name + arguments
        case _:
            return ""
