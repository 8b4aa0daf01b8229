"""Streams of JSON values: a value a line (NDJSON), or the elements of one array as they come.

Lawful and silent: empty lines, CR LF, a last line without its end, spaces around elements. Told as
a fault: bytes that are no UTF-8 (`bad_utf8`), a stream that ends inside a value (`torn`). Whether a
line is JSON is for the dialect to say. Never raises; nothing depends on how the bytes are cut.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from proxyaudit.core.exchange import Chunk
from proxyaudit.core.turn import StreamEvent, StreamFault
from proxyaudit.wire.content import cut

_QUOTE = 200
_BETWEEN = re.compile(r"[\s,]*")
_BLANK = b" \t\r"


class LineDecoder:
    """Feed it bytes as they arrive; `events` and `faults` grow.

    An event is a line that is not blank, with the time of the feed that completed it.
    """

    def __init__(self) -> None:
        self.events: list[StreamEvent] = []
        self.faults: list[StreamFault] = []
        self._tail: list[bytes] = []

    def feed(self, data: bytes, at: float | None = None) -> None:
        """Take in some bytes that arrived at `at` (seconds; None where the time is not known)."""
        first, *others = data.split(b"\n")
        self._tail.append(first)
        for line in others:
            self._take(b"".join(self._tail), at)
            self._tail = [line]

    def close(self, at: float | None = None) -> None:
        """The stream is over. A last line without its end counts if it is whole JSON."""
        line = b"".join(self._tail)
        self._tail = []
        if not _is_whole(line):
            detail = line[:_QUOTE].decode("utf-8", "replace")
            self.faults.append(StreamFault("torn", len(self.events), detail))
        self._take(line, at)

    def _take(self, line: bytes, at: float | None) -> None:
        line = line.strip(_BLANK)
        if line:
            _add(self.events, self.faults, line, at)


def decode_lines(
    body: bytes, chunks: Sequence[Chunk], timed: bool
) -> tuple[list[StreamEvent], list[StreamFault]]:
    """The lines of a whole body, each with the time of the chunk that completed it.

    Times are seconds since the exchange began, None where `timed` says that they were not seen.
    """
    decoder = LineDecoder()
    known = timed and bool(chunks)
    ats = [chunk.at if known else None for chunk in chunks] or [None]
    for piece, at in zip(cut(body, chunks), ats, strict=True):
        decoder.feed(piece, at)
    decoder.close(ats[-1])
    return decoder.events, decoder.faults


def decode_array(
    body: bytes, chunks: Sequence[Chunk], timed: bool
) -> tuple[list[StreamEvent], list[StreamFault]]:
    """The elements of a JSON array, each with the time of the chunk that completed it."""
    events: list[StreamEvent] = []
    faults: list[StreamFault] = []
    ends = list(accumulate(chunk.size for chunk in chunks))
    # A letter is a byte here, so that places in the text are places in the body.
    text = body.decode("latin-1")
    at = text.find("[") + 1
    scanner = json.JSONDecoder(strict=False)
    while True:
        start = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text.startswith("]", start):
            return events, faults
        try:
            _, at = scanner.raw_decode(text, start)
        except (ValueError, RecursionError):
            detail = body[start : start + _QUOTE].decode("utf-8", "replace")
            faults.append(StreamFault("torn", len(events), detail))
            return events, faults
        time = None
        if timed and chunks:
            time = chunks[min(bisect_left(ends, at), len(chunks) - 1)].at
        _add(events, faults, body[start:at], time)


def _add(
    events: list[StreamEvent], faults: list[StreamFault], raw: bytes, at: float | None
) -> None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        around = raw[max(0, problem.start - 20) : problem.end + 20]
        detail = around.decode("utf-8", "backslashreplace")[:_QUOTE]
        faults.append(StreamFault("bad_utf8", len(events), detail))
        text = raw.decode("utf-8", "replace")
    events.append(StreamEvent(len(events), at, "", text))


def _is_whole(line: bytes) -> bool:
    if not line.strip():
        return True
    try:
        json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True
