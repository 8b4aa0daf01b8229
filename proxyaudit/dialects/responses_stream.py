"""Streams of the Responses format: items that grow, and the whole response at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message
from proxyaudit.core.turn import CallDelta, Reply, StreamEvent, StreamFault
from proxyaudit.dialects.fields import as_list, as_object, as_text, dump, error_of, integer, word
from proxyaudit.dialects.responses_items import said_message
from proxyaudit.dialects.responses_reply import read_response_object
from proxyaudit.dialects.streams import POINTER, StreamReader

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done")
_CALLS = ("function_call", "custom_tool_call")
_ARGUMENTS = (
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
)
_TEXTS = {
    "response.output_text.delta": "output_text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary_text",
    "response.reasoning_text.delta": "reasoning_text",
}


def read_responses_stream(events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
    """The reply of a stream: the response object of its end, or what its items add up to."""
    items = _Items(StreamReader(events, faults, has_sentinel=False))
    for event, body in items.reader.objects():
        items.take(event, body)
    return items.reply()


@dataclass(slots=True)
class _Item:
    """An item as far as it came: as added or as done, and pieces by kind and place."""

    body: JSONObject = field(default_factory=dict)
    whole: bool = False
    pieces: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def value(self) -> JSONObject:
        if self.whole:
            return self.body
        grown: dict[str, list[JSON]] = {"summary": [], "content": []}
        for (kind, _), texts in sorted(self.pieces.items()):
            name = "refusal" if kind == "refusal" else "text"
            part: JSONObject = {"type": kind, name: "".join(texts)}
            grown["summary" if kind == "summary_text" else "content"].append(part)
        added: JSONObject = {key: parts for key, parts in grown.items() if parts}
        if self.arguments:
            added["input" if "input" in self.body else "arguments"] = "".join(self.arguments)
        return {"type": self._guess(), **self.body, **added}

    def _guess(self) -> str:
        """The type of an item whose beginning never came."""
        if self.arguments:
            return "function_call"
        kinds = {kind for kind, _ in self.pieces}
        return "message" if kinds & {"output_text", "refusal"} else "reasoning"


class _Items:
    def __init__(self, reader: StreamReader) -> None:
        self.reader = reader
        self._items: dict[int, _Item] = {}
        self._response: JSONObject = {}
        self._event = 0
        self._ended = False

    def take(self, event: StreamEvent, body: JSONObject) -> None:
        kind = as_text(body.get("type")) or event.name
        if "response" in body and isinstance(body["response"], dict):
            self._take_response(event, kind, body["response"])
        elif kind == "error" or error_of(body) is not None:
            text = error_of(body) or word(body.get("message")) or dump(body)
            self.reader.failed(event, text)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._take_item(event, kind, body)
        elif kind in _ARGUMENTS:
            self._take_arguments(event, body)
        elif kind in _TEXTS:
            self._take_text(event, _TEXTS[kind], body)

    def _take_response(self, event: StreamEvent, kind: str, response: JSONObject) -> None:
        self._response = {**self._response, **response}
        if kind in _ENDS:
            self._ended = self.reader.done = True
            self._event = event.number
        error = error_of(response)
        if error is not None or kind == "response.failed":
            self.reader.failed(event, error or "the response failed")

    def _item(self, body: JSONObject) -> _Item:
        place = integer(body.get("output_index"))
        return self._items.setdefault(len(self._items) if place is None else place, _Item())

    def _take_item(self, event: StreamEvent, kind: str, body: JSONObject) -> None:
        item, value = self._item(body), as_object(body.get("item"))
        is_new, item.body = not item.body, value
        item.whole = kind.endswith(".done")
        if is_new and value.get("type") in _CALLS:
            given = word(value.get("arguments")) or word(value.get("input"))
            name, id_ = word(value.get("name")), word(value.get("call_id"))
            place = integer(body.get("output_index"))
            self.reader.deltas.append(CallDelta(event.number, place, id_, name, given))
            self.reader.saw(event, name or "", given or "")

    def _take_arguments(self, event: StreamEvent, body: JSONObject) -> None:
        piece, place = as_text(body.get("delta")), integer(body.get("output_index"))
        self._item(body).arguments.append(piece)
        self.reader.deltas.append(CallDelta(event.number, place, None, None, piece))
        self.reader.saw(event, piece)

    def _take_text(self, event: StreamEvent, kind: str, body: JSONObject) -> None:
        piece = as_text(body.get("delta"))
        at = integer(body.get("summary_index" if kind == "summary_text" else "content_index")) or 0
        self._item(body).pieces.setdefault((kind, at), []).append(piece)
        self.reader.saw(event, piece)

    def reply(self) -> Reply:
        place = f"{POINTER}/{self._event}"
        read = read_response_object(
            self._response if self._ended else {**self._response, "status": None}
        )
        usage = read.usage and replace(read.usage, pointer=place)
        message = self._message()
        finish = (
            "tool_calls" if read.finish == "stop" and message and message.calls else read.finish
        )
        return replace(
            read,
            message=message,
            finish=finish,
            finish_pointer=place if read.finish else POINTER,
            usage=usage,
            error=read.error or self.reader.error,
            stream=self.reader.stream(),
        )

    def _message(self) -> Message | None:
        """The output of the whole response; some servers leave it empty there: then the items."""
        items = as_list(self._response.get("output")) if self._ended else []
        if not items:
            items = [self._items[at].value() for at in sorted(self._items)]
        if not items and not self._ended:
            return None
        said = said_message([(POINTER, item) for item in items], POINTER)
        parts = tuple(replace(part, pointer=POINTER) for part in said.parts)
        return replace(said, parts=parts, wire="")
