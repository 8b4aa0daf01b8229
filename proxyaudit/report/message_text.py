"""Messages in words: one line each, or whole for a diff."""

from collections.abc import Iterator

from rich.text import Text

from proxyaudit.core.message import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    ToolCall,
    ToolResult,
    canonical_arguments,
)
from proxyaudit.core.message import Text as Said
from proxyaudit.report.safe import safe_line

ROLE_STYLE = {"system": "magenta", "user": "cyan", "assistant": "green", "tool": "yellow"}
# Where a line is cut at this much, the rest is counted.
_LINE = 160


def script(message: Message) -> str:
    """All that is in a message, as text that two messages can be compared by.

    Arguments as JSON values: their spelling is no difference.
    """
    return "\n".join(_written(part) for part in message.parts)


def message_lines(message: Message, limit: int = _LINE) -> Iterator[Text]:
    """A line for each part, long ones cut."""
    for part in message.parts:
        yield _line(part, limit)
    if not message.parts:
        yield Text("(empty)", "dim")


def message_rows(
    index: int | str, message: Message, limit: int = _LINE
) -> Iterator[tuple[Text | str, ...]]:
    """Grid rows: number and role, then a line for each part."""
    head: tuple[Text | str, Text | str] = (str(index), role(message))
    for line in message_lines(message, limit):
        yield (*head, line)
        head = ("", "")


def role(message: Message) -> Text:
    """The role, with the word as sent where it is another one."""
    # A role that no dialect knows is kept as it was sent: it is text from traffic, too.
    word = safe_line(message.role, 20)
    if message.raw_role and message.raw_role != message.role:
        word = f"{word} ({safe_line(message.raw_role, 20)})"
    return Text(word, ROLE_STYLE.get(message.role, ""))


def cut(text: str, limit: int) -> str:
    """Text on one line; a long one is cut, and the line says how long it is."""
    line = safe_line(text)
    if len(line) <= limit:
        return line
    return f"{line[:limit].rstrip()}… ({len(text):,} characters)"


def _written(part: Part) -> str:
    match part:
        case Said(text):
            return text
        case Reasoning(text, signature):
            return f"[reasoning] {text}" + (f" [signature {signature}]" if signature else "")
        case ToolCall(id_, name, arguments):
            return f"[call {id_}] {name} {canonical_arguments(arguments)}"
        case ToolResult(call_id, text, media):
            return f"[result of {call_id}] {text}" + "".join(_written(m) for m in media)
        case Media(kind, digest):
            return f"[{kind} {digest}]"
        case Opaque(kind, value):
            return f"[{kind}] {value}"


def _line(part: Part, limit: int) -> Text:
    match part:
        case Said(text):
            return Text(cut(text, limit))
        case Reasoning(text):
            return Text("reasoning  ", "dim").append(cut(text, limit), "dim italic")
        case ToolCall(id_, name, arguments):
            out = Text("→ call  ", "dim").append(safe_line(name or "(no name)", 60), "bold")
            return out.append(f" {cut(arguments, limit)}").append(f"  {safe_line(id_)}", "dim")
        case ToolResult(call_id, text):
            return Text(f"← {safe_line(call_id, 40)}  ", "dim").append(cut(text, limit))
        case _:
            return Text(cut(_written(part), limit), "dim")
