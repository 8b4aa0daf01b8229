"""Messages and their parts: what a dialect reads out of the bytes.

Messages are pure values. Two digests say when two of them are the same:

- `content`: the meaning. Shape does not matter (a string or one text part; null, "" or absent
  beside calls; arguments as JSON values; `developer` as `system`). Reasoning is left out: whether
  it has to come back is a fact of the dialect and the model family, and has rules of its own.
- `wire`: the message as it was sent, byte for byte of its JSON value.

Every message and part carries the JSON pointer of the place where it stood.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from pydantic_core import from_json, to_json

from proxyaudit.core.json import JSON


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking. `signature` holds a signature or the encrypted content, where there is one."""

    text: str
    signature: str | None = None
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call. `arguments` is the raw text as sent: it may be torn, doubled or not JSON at all."""

    id: str
    name: str
    arguments: str
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a call. `text` is its joined text; other content is in `media`."""

    call_id: str
    text: str
    media: tuple["Media", ...] = ()
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Media:
    """An image, sound or file: its kind and a digest of its data or address."""

    kind: str
    digest: str
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part no dialect knows; kept as canonical JSON."""

    kind: str
    value: str
    pointer: str = field(default="", compare=False)


type Part = Text | Reasoning | ToolCall | ToolResult | Media | Opaque


UNNAMED = "no id: "
"""How an id begins that stands for one which a format has not, or which a client left out."""


def unnamed(name: str, number: int) -> str:
    """The id of call `number` (from 1) of a tool in one message, where none was sent.

    It depends on nothing else, so that a reply and the history it becomes part of agree.
    """
    return f"{UNNAMED}{name} {number}"


def is_sent(id_: str) -> bool:
    """Whether an id was sent, not made here: rules about ids look at no other."""
    return bool(id_) and not id_.startswith(UNNAMED)


def digest(*pieces: str) -> str:
    """A short digest of some texts; the separator keeps ("ab", "c") and ("a", "bc") apart."""
    joined = "\x1f".join(pieces).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=12).hexdigest()


def canonical_json(value: JSON) -> str:
    """JSON with sorted keys, no spaces and 1.0 written as 1: equal values give equal text."""
    return to_json(_ordered(value), inf_nan_mode="constants").decode("utf-8", "replace")


def _ordered(value: JSON) -> JSON:
    match value:
        case dict():
            return {key: _ordered(value[key]) for key in sorted(value)}
        case list():
            return [_ordered(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def canonical_arguments(raw: str) -> str:
    """Arguments as a JSON value; text that is not JSON stays as it is, and empty means {}."""
    if not raw.strip():
        return "{}"
    try:
        return canonical_json(from_json(raw))
    except ValueError:
        return raw


@dataclass(frozen=True)
class Message:
    """One message. `role` is system, user, assistant or tool; `raw_role` is the word as sent."""

    role: str
    parts: tuple[Part, ...]
    pointer: str = field(default="", compare=False)
    raw_role: str = field(default="", compare=False)
    wire: str = field(default="", compare=False)

    @cached_property
    def content(self) -> str:
        """Digest of the meaning, reasoning left out."""
        return digest(self.role, *self._meaning())

    @cached_property
    def body(self) -> str:
        """Digest of the meaning without the role: what a role change keeps."""
        return digest(*self._meaning())

    def _meaning(self) -> list[str]:
        pieces: list[str] = []
        for part in self.parts:
            match part:
                case Text(text) if text:
                    pieces += ["text", text]
                case ToolCall(id_, name, arguments):
                    pieces += ["call", id_, name, canonical_arguments(arguments)]
                case ToolResult(call_id, text, media):
                    pieces += ["result", call_id, text, *(item.digest for item in media)]
                case Media(kind, data):
                    pieces += ["media", kind, data]
                case Opaque(kind, value):
                    pieces += ["opaque", kind, value]
                case _:
                    pass
        return pieces

    @cached_property
    def text(self) -> str:
        """All visible text, tool results included, joined by newlines."""
        return "\n".join(p.text for p in self.parts if isinstance(p, Text | ToolResult))

    @cached_property
    def reasoning(self) -> str:
        """All reasoning text, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Reasoning))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of its calls and of the calls that its results answer."""
        calls = (p.id for p in self.parts if isinstance(p, ToolCall))
        return (*calls, *(p.call_id for p in self.parts if isinstance(p, ToolResult)))

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolCall))

    @cached_property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolResult))

    @cached_property
    def thoughts(self) -> tuple[Reasoning, ...]:
        return tuple(p for p in self.parts if isinstance(p, Reasoning))

    @cached_property
    def is_empty(self) -> bool:
        """Whether nothing but (perhaps) reasoning is in it."""
        return not self._meaning()


def system(text: str) -> Message:
    return Message("system", (Text(text),), raw_role="system")


def user(text: str) -> Message:
    return Message("user", (Text(text),), raw_role="user")


def assistant(text: str = "", *parts: Part, reasoning: str = "") -> Message:
    thoughts: tuple[Part, ...] = (Reasoning(reasoning),) if reasoning else ()
    said: tuple[Part, ...] = (Text(text),) if text else ()
    return Message("assistant", (*thoughts, *said, *parts), raw_role="assistant")


def tool(call_id: str, text: str) -> Message:
    return Message("tool", (ToolResult(call_id, text),), raw_role="tool")
