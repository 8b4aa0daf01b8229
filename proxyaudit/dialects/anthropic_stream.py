"""Streams of the Messages format: blocks that begin, grow and end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxyaudit.core.json import JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, Text, ToolCall
from proxyaudit.core.turn import CallDelta, Reply, StreamEvent, StreamFault
from proxyaudit.dialects.anthropic_content import read_block, read_usage
from proxyaudit.dialects.fields import (
    as_object,
    as_text,
    dump,
    error_of,
    finish_word,
    integer,
    word,
)
from proxyaudit.dialects.streams import POINTER, StreamReader

_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
_BLOCK_OF = {"text_delta": "text", "input_json_delta": "tool_use"}


def read_anthropic_stream(events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
    """The reply that the blocks add up to; `message` is None if no message was begun."""
    blocks = _Blocks(StreamReader(events, faults, has_sentinel=False))
    for event, body in blocks.reader.objects():
        blocks.take(event, body)
    return blocks.reply()


@dataclass(slots=True)
class _Block:
    """A block as it began, and the pieces that came for it."""

    index: int | None
    start: JSONObject
    pieces: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)

    def parts(self) -> Iterator[Part]:
        kind, grown = self.start.get("type"), "".join(self.pieces)
        if kind == "text":
            if text := as_text(self.start.get("text")) + grown:
                yield Text(text, POINTER)
        elif kind == "thinking":
            text = as_text(self.start.get("thinking")) + grown
            signature = as_text(self.start.get("signature")) + "".join(self.signature)
            yield Reasoning(text, signature or None, POINTER)
        elif kind == "tool_use" and grown:
            name = as_text(self.start.get("name"))
            yield ToolCall(as_text(self.start.get("id")), name, grown, POINTER)
        else:
            yield from read_block(self.start, POINTER)


class _Blocks:
    def __init__(self, reader: StreamReader) -> None:
        self.reader = reader
        self._blocks: list[_Block] = []
        self._begun = False
        self._usage: JSONObject = {}
        self._usage_event = 0
        self._finish: str | None = None
        self._finish_event = 0
        self._model: str | None = None
        self._id: str | None = None

    def take(self, event: StreamEvent, body: JSONObject) -> None:
        kind = as_text(body.get("type")) or event.name
        error = error_of(body)
        if error is not None or kind == "error":
            self.reader.failed(event, error or dump(body))
        elif kind == "message_start":
            self._start(event, as_object(body.get("message")))
        elif kind == "content_block_start":
            self._start_block(event, body)
        elif kind == "content_block_delta":
            self._grow(event, body)
        elif kind == "message_delta":
            self._end(event, body)
        elif kind == "message_stop":
            self.reader.done = True

    def _start(self, event: StreamEvent, message: JSONObject) -> None:
        self._begun = True
        self._model = self._model or word(message.get("model"))
        self._id = self._id or word(message.get("id"))
        self._count(event, as_object(message.get("usage")))

    def _start_block(self, event: StreamEvent, body: JSONObject) -> None:
        self._begun = True
        block = _Block(integer(body.get("index")), as_object(body.get("content_block")))
        self._blocks.append(block)
        if block.start.get("type") == "tool_use":
            id_, name = word(block.start.get("id")), word(block.start.get("name"))
            self.reader.deltas.append(CallDelta(event.number, block.index, id_, name, None))
            self.reader.saw(event, as_text(block.start.get("name")))
        else:
            self.reader.saw(event, as_text(block.start.get("text")))

    def _grow(self, event: StreamEvent, body: JSONObject) -> None:
        self._begun = True
        index, delta = integer(body.get("index")), as_object(body.get("delta"))
        kind = as_text(delta.get("type"))
        block = next((b for b in reversed(self._blocks) if b.index == index), None)
        if block is None:
            block = _Block(index, {"type": _BLOCK_OF.get(kind, "thinking")})
            self._blocks.append(block)
        if kind == "signature_delta":
            block.signature.append(as_text(delta.get("signature")))
            return
        piece = as_text(delta.get(_TEXTS.get(kind, "")))
        block.pieces.append(piece)
        if kind == "input_json_delta":
            self.reader.deltas.append(CallDelta(event.number, index, None, None, piece))
        self.reader.saw(event, piece)

    def _end(self, event: StreamEvent, body: JSONObject) -> None:
        if finish := word(as_object(body.get("delta")).get("stop_reason")):
            self._finish, self._finish_event = finish, event.number
        self._count(event, as_object(body.get("usage")))

    def _count(self, event: StreamEvent, usage: JSONObject) -> None:
        """Later counts replace earlier ones, but no zero replaces a count."""
        news = {key: value for key, value in usage.items() if value or key not in self._usage}
        if news:
            self._usage |= news
            self._usage_event = event.number

    def reply(self) -> Reply:
        parts = tuple(part for block in self._blocks for part in block.parts())
        return Reply(
            message=Message("assistant", parts, POINTER, "assistant") if self._begun else None,
            finish=finish_word(self._finish),
            finish_raw=self._finish,
            finish_pointer=f"{POINTER}/{self._finish_event}" if self._finish else POINTER,
            usage=read_usage(self._usage or None, f"{POINTER}/{self._usage_event}"),
            model=self._model,
            id=self._id,
            error=self.reader.error,
            stream=self.reader.stream(),
        )
