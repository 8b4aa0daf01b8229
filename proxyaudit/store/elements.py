"""The elements of one array in a large JSON document, one by one, torn documents included."""

import re
from collections.abc import Iterable, Iterator, Sequence

# A whole string, a mark of structure, or a quote whose string is not whole yet. Possessive: a long
# body is walked over once, not tried again from each of its letters.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],:]', re.DOTALL)
_QUOTE, _OPEN, _CLOSE = ord('"'), b"{[", b"}]"
_LONGEST_KEY = 64
_PIECE = 1 << 20


def array_objects(
    pieces: Iterable[bytes], path: Sequence[str], faults: list[str]
) -> Iterator[bytes]:
    """The objects in the array at `path` (keys from the root), each as its bytes.

    Needs the memory of the largest of them. What is no JSON inside an object is left to whoever
    parses it; a document that ends too early adds one sentence to `faults`.
    """
    text = _Text(pieces)
    wanted = [*(f'"{key}"'.encode() for key in path), b"["]
    stack: list[bytes] = []
    word = b""
    while (token := text.token()) is not None:
        start, end = token
        first = text.data[start]
        if first == _QUOTE:
            word = text.data[start:end] if end - start <= _LONGEST_KEY else b""
        elif first == ord(":") and stack:
            stack[-1] = word
        elif first == ord("{") and stack == wanted:
            whole = text.to_the_end_of(start)
            if whole is None:
                faults.append("torn at its end: the last entry is not whole")
                return
            yield whole
        elif first in _OPEN:
            stack.append(bytes([first]))
        elif first in _CLOSE and stack:
            stack.pop()
            if not stack:
                return
    if stack or not text.seen:
        faults.append("torn at its end")


def keys_of(head: bytes) -> dict[str, list[str]]:
    """The keys of the object that a text begins with, and of the objects right in it.

    As far as they stand in the text, which may be torn.
    """
    text, stack, word = _Text([head]), list[bytes](), b""
    found: dict[str, list[str]] = {}
    while (token := text.token()) is not None:
        start, end = token
        first = text.data[start]
        if first == _QUOTE:
            word = text.data[start:end]
        elif first == ord(":") and stack and len(stack) <= 2:
            key = word[1:-1].decode("utf-8", "replace")
            if len(stack) == 1:
                found[key] = []
            elif found and stack[1] == b"{":
                list(found.values())[-1].append(key)
        elif first in _OPEN:
            stack.append(bytes([first]))
        elif first in _CLOSE and stack:
            stack.pop()
            if not stack:
                break
    return found


class _Text:
    """Bytes that are read as far as they are needed, and forgotten as soon as they are not."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.data = b""
        self.seen = False
        self._pieces = iter(pieces)
        self._at = 0
        self._keep: int | None = None

    def token(self) -> tuple[int, int] | None:
        """Where the next token stands in `data`; None where the text ends before it is whole."""
        while True:
            match = _TOKEN.search(self.data, self._at)
            if match and not (self._is_open(match)):
                self._at = match.end()
                self.seen = True
                return match.span()
            self._at = match.start() if match else len(self.data)
            if not self._grow():
                return None

    def to_the_end_of(self, start: int) -> bytes | None:
        """The bytes from an opening mark that was just read to the mark that closes it."""
        self._keep, depth = start, 1
        while depth:
            token = self.token()
            if token is None:
                return None
            first = self.data[token[0]]
            depth += (first in _OPEN) - (first in _CLOSE)
        whole = self.data[self._keep : self._at]
        self._keep = None
        return whole

    def _is_open(self, match: re.Match[bytes]) -> bool:
        return match.end() - match.start() == 1 and self.data[match.start()] == _QUOTE

    def _grow(self) -> bool:
        """Read on: as much again as there is, so that a long string is not searched too often."""
        begin = self._at if self._keep is None else self._keep
        self.data, self._at = self.data[begin:], self._at - begin
        if self._keep is not None:
            self._keep = 0
        more, size = list[bytes](), 0
        for piece in self._pieces:
            more.append(piece)
            size += len(piece)
            if size >= max(_PIECE, len(self.data)):
                break
        self.data = b"".join([self.data, *more])
        return size > 0
