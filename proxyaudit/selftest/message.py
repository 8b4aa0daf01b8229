"""HTTP/1.1 as it is on the wire: exact lines, chunk frames as they were cut, and the end.

A library for HTTP would hide just what is to be compared: the order and case of headers, their
spacing, the cut of chunks, and whether a message ended or only its connection did.
"""

from dataclasses import dataclass
from typing import Literal

type Framing = Literal["none", "length", "chunked", "close"]
type Ending = Literal["open", "fin", "reset"]

_NO_BODY = frozenset({b"204", b"304"})


@dataclass(frozen=True, slots=True)
class Message:
    """A request or a response. Lines are without their line ends.

    `frames` are the payloads of chunks; of another framing one payload with all of the body.
    `interim` are whole heads (1xx) before it. `complete`: the message has ended by its own word.
    `ending` is what happened to the connection by then; `surplus` are bytes after the message.
    """

    first: bytes
    lines: tuple[bytes, ...]
    frames: tuple[bytes, ...] = ()
    trailers: tuple[bytes, ...] = ()
    interim: tuple[bytes, ...] = ()
    framing: Framing = "none"
    complete: bool = True
    ending: Ending = "open"
    surplus: bytes = b""

    @property
    def body(self) -> bytes:
        return b"".join(self.frames)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Names and values as text."""
        pairs = (line.decode("latin-1").partition(":") for line in self.lines)
        return tuple((name, value.strip()) for name, _, value in pairs)

    @property
    def status(self) -> int:
        """Of a response; 0 where its first line is none."""
        words = self.first.split(b" ")
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0

    def value(self, name: str) -> str:
        """The first value of a header, or an empty text."""
        return next((v for n, v in self.headers if n.lower() == name.lower()), "")


class Reader:
    """Reads one message, piece by piece. `feed` after the end keeps the bytes as `surplus`.

    `is_response` and `bodiless` (the answer to a HEAD) decide how a body is told. What is no HTTP
    leaves the message incomplete; nothing raises.
    """

    def __init__(self, *, is_response: bool, bodiless: bool = False) -> None:
        self.head_done = self.complete = False
        self.received = 0  # bytes of the body
        self.interim: list[bytes] = []
        self._is_response, self._bodiless = is_response, bodiless
        self._raw = bytearray()
        self._first, self._lines = b"", list[bytes]()
        self._frames, self._trailers = list[bytes](), list[bytes]()
        self._framing: Framing = "none"
        self._left = 0  # bytes of the body, or of the chunk, that are still to come
        self._frame: list[bytes] | None = None
        self._stage: Literal["size", "data", "end", "trailers", "garbage"] = "size"
        self._ending: Ending = "open"

    def feed(self, data: bytes) -> None:
        """Take what came from the wire."""
        self._raw += data
        while not self.complete and self._step():
            pass

    def end(self, ending: Ending) -> None:
        """The connection has ended."""
        self._ending = ending
        if self._framing == "close" and self.head_done and ending == "fin":
            self.complete = True

    def message(self) -> Message | None:
        """What has been read so far; None before a whole head."""
        if not self.head_done:
            return None
        frames = [*self._frames]
        if self._frame:
            frames.append(b"".join(self._frame))
        return Message(
            self._first,
            tuple(self._lines),
            tuple(frames) if self._framing == "chunked" else (b"".join(frames),),
            tuple(self._trailers),
            tuple(self.interim),
            self._framing,
            self.complete,
            self._ending,
            bytes(self._raw) if self.complete else b"",
        )

    def _step(self) -> bool:
        """Take one thing off the raw bytes; False where more of them are needed."""
        if not self.head_done:
            return self._head()
        if self._framing == "chunked":
            return self._chunk()
        return self._plain()

    def _head(self) -> bool:
        end = self._raw.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = bytes(self._raw[: end + 4])
        del self._raw[: end + 4]
        self._first, *self._lines = head[:-4].split(b"\r\n")
        status = self._first.split(b" ")[1:2]
        if self._is_response and status[0:1] and status[0][:1] == b"1" and status[0] != b"101":
            self.interim.append(head)
            return True
        self.head_done = True
        self._choose_framing(status[0] if status else b"")
        return True

    def _choose_framing(self, status: bytes) -> None:
        fields = {n.lower(): v.strip() for n, _, v in (x.partition(b":") for x in self._lines)}
        if self._bodiless or (self._is_response and (status in _NO_BODY or status == b"101")):
            self.complete = True
        elif fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            self._framing = "chunked"
        elif fields.get(b"content-length", b"").isdigit():
            self._framing, self._left = "length", int(fields[b"content-length"])
            self.complete = not self._left
        elif self._is_response:
            self._framing = "close"
        else:
            self.complete = True

    def _plain(self) -> bool:
        if not self._raw:
            return False
        wanted = len(self._raw) if self._framing == "close" else self._left
        data = bytes(self._raw[:wanted])
        del self._raw[: len(data)]
        self._frames.append(data)
        self.received += len(data)
        if self._framing == "length":
            self._left -= len(data)
            self.complete = not self._left
        return True

    def _chunk(self) -> bool:
        if self._stage == "data":
            return self._chunk_data()
        end = self._raw.find(b"\r\n")
        if end < 0 or self._stage == "garbage":
            return False
        line = bytes(self._raw[:end])
        del self._raw[: end + 2]
        if self._stage == "size":
            self._chunk_size(line)
        elif self._stage == "end":
            self._stage = "size"
        elif line:
            self._trailers.append(line)
        else:
            self.complete = True
        return True

    def _chunk_size(self, line: bytes) -> None:
        try:
            self._left = int(line.split(b";")[0], 16)
        except ValueError:
            self._stage = "garbage"
            return
        self._stage = "data" if self._left else "trailers"
        self._frame = []

    def _chunk_data(self) -> bool:
        data = bytes(self._raw[: self._left])
        if not data or self._frame is None:
            return False
        del self._raw[: len(data)]
        self._frame.append(data)
        self._left -= len(data)
        self.received += len(data)
        if not self._left:
            self._frames.append(b"".join(self._frame))
            self._frame, self._stage = None, "end"
        return True
