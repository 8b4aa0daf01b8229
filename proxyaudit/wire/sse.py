"""Server-sent events, byte by byte, with a word on everything that other decoders swallow.

Lawful and silent: comments, CR, LF or CRLF, a byte order mark, a letter cut between two chunks,
events without data. Told as a fault: bytes that are no UTF-8 (`bad_utf8`), a line that is no field
(`bad_line`), a stream that ends inside an event (`torn`).
"""

import codecs
import re
from collections.abc import Sequence
from typing import Literal

from proxyaudit.core.exchange import Chunk
from proxyaudit.core.turn import StreamEvent, StreamFault
from proxyaudit.wire.content import cut

_LINE_END = re.compile(rb"\r\n|\n|\r")
_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_QUOTE = 200


class SseDecoder:
    """Feed it bytes as they arrive; `events` and `faults` grow.

    An event gets the time of the feed that completed it. The result does not depend on how the
    bytes are cut. Never raises.
    """

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []
        self.faults: list[StreamFault] = []
        self._tail: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._data: list[str] = []
        self._name = ""

    def feed(self, data: bytes, at: float | None = None) -> None:
        """Take in some bytes that arrived at `at` (seconds; None where the time is not known)."""
        if not data:
            return
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        first, *others = _LINE_END.split(data)
        self._tail.append(first)
        for line in others:
            self._take(b"".join(self._tail), at)
            self._tail = [line]

    def close(self, at: float | None = None) -> None:
        """The stream is over. An event that was still open is given out as far as it came."""
        line = b"".join(self._tail)
        self._tail = []
        rest = codecs.getincrementaldecoder("utf-8")("replace").decode(self._unmarked(line))
        unfinished = bool(rest) and not rest.startswith(":")
        if not (self._data or self._name or unfinished):
            return
        if unfinished and rest.startswith("data:"):
            self._data.append(rest[5:].removeprefix(" "))
        self._fault("torn", rest if unfinished else "the last event has no blank line at its end")
        self._dispatch(at)

    def _unmarked(self, line: bytes) -> bytes:
        return line.removeprefix(codecs.BOM_UTF8) if self._at_start else line

    def _take(self, line: bytes, at: float | None) -> None:
        line = self._unmarked(line)
        self._at_start = False
        if not line:
            self._dispatch(at)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(self._text(value))
        elif field == b"event":
            self._name = self._text(value)
        elif field and field not in (b"id", b"retry"):
            self._fault("bad_line", self._text(line))

    def _dispatch(self, at: float | None) -> None:
        if self._data:
            joined = "\n".join(self._data)
            self.events.append(StreamEvent(len(self.events), at, self._name, joined))
        self._data, self._name = [], ""

    def _text(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as problem:
            around = raw[max(0, problem.start - 20) : problem.end + 20]
            self._fault("bad_utf8", around.decode("utf-8", "backslashreplace"))
            return raw.decode("utf-8", "replace")

    def _fault(self, kind: Literal["torn", "bad_line", "bad_utf8"], detail: str) -> None:
        self.faults.append(StreamFault(kind, len(self.events), detail[:_QUOTE]))


def decode(
    body: bytes, chunks: Sequence[Chunk], timed: bool
) -> tuple[list[StreamEvent], list[StreamFault]]:
    """The events of a whole body, each with the arrival time of the chunk that completed it.

    Times are seconds since the exchange began, None where `timed` says that they were not seen.
    """
    decoder = SseDecoder()
    known = timed and bool(chunks)
    ats = [chunk.at if known else None for chunk in chunks] or [None]
    for piece, at in zip(cut(body, chunks), ats, strict=True):
        decoder.feed(piece, at)
    decoder.close(ats[-1])
    return decoder.events, decoder.faults


def looks_like_sse(body: bytes) -> bool:
    """Whether a body starts like an event stream, whatever its content type says."""
    return body.removeprefix(codecs.BOM_UTF8).lstrip().startswith(_STARTS)
