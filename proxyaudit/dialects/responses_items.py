"""Items of the Responses format, in a request's input and in a reply's output."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Reasoning, ToolCall
from proxyaudit.dialects.chat_message import arguments_text
from proxyaudit.dialects.fields import (
    as_list,
    as_text,
    opaque,
    opaque_fields,
    wire_of,
    word,
)
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.parts import joined_text, read_content, read_result

_CALLS = ("function_call", "custom_tool_call")
# Ids and states that a server gives to items; clients drop them or make up their own.
_KNOWN = frozenset({"type", "role", "content", "id", "status", "cache_control"})
_KNOWN_OF_RESULT = frozenset({"type", "call_id", "output", "id", "status", "name"})
_MEMO = Memo[Message]()


def read_input(value: JSON, pointer: str) -> tuple[Message, ...]:
    """The messages of an input: a string, or items.

    What the model said in one reply (thoughts, texts, calls) stands in several items; they become
    one message, as the reply itself is one.
    """
    if isinstance(value, str):
        parts = read_content(value, pointer)
        return (Message("user", parts, pointer, "user", wire_of(value)),) if parts else ()
    placed = [(f"{pointer}/{at}", item) for at, item in enumerate(as_list(value))]
    messages: list[Message] = []
    for said, group in groupby(placed, key=lambda pair: _is_said(pair[1])):
        items = list(group)
        if said:
            messages.append(said_message(items, items[0][0]))
        else:
            messages += [_message(item, place) for place, item in items]
    return tuple(messages)


def _is_said(item: JSON) -> bool:
    """Whether an item is part of what the model said."""
    if not isinstance(item, dict):
        return False
    kind = as_text(item.get("type"))
    if kind in ("", "message"):
        return item.get("role") == "assistant"
    return kind != "item_reference" and not kind.endswith("_output")


def said_message(items: Sequence[tuple[str, JSON]], pointer: str) -> Message:
    """One assistant message of items with their pointers."""
    sent: list[JSON] = [item for _, item in items]

    def read(wire: str) -> Message:
        parts = tuple(part for place, item in items for part in _said_parts(item, place))
        return Message("assistant", parts, pointer, "assistant", wire)

    return _MEMO.read(sent, pointer, read, pieces=sent)


def _said_parts(item: JSON, pointer: str) -> Iterator[Part]:
    if not isinstance(item, dict):
        yield opaque("part", item, pointer)
        return
    kind = as_text(item.get("type"))
    if kind == "message" or (not kind and "role" in item):
        yield from read_content(item.get("content"), pointer + "/content")
    elif kind == "reasoning":
        yield _thought(item, pointer)
    elif kind in _CALLS:
        call_id = as_text(item.get("call_id")) or as_text(item.get("id"))
        yield ToolCall(call_id, as_text(item.get("name")), arguments_text(item), pointer)
    else:
        kept = {key: value for key, value in item.items() if key not in ("id", "status")}
        yield opaque(kind or "part", kept, pointer)


def _thought(item: JSONObject, pointer: str) -> Reasoning:
    text = joined_text(item.get("content")) or joined_text(item.get("summary"))
    return Reasoning(text, word(item.get("encrypted_content")), pointer)


def _message(item: JSON, pointer: str) -> Message:
    """An item that the model did not say."""
    return _MEMO.read(item, pointer, lambda wire: _read(item, pointer, wire))


def _read(item: JSON, pointer: str, wire: str) -> Message:
    if not isinstance(item, dict):
        return Message("", (opaque("message", item, pointer),), pointer, "", wire)
    kind, role = as_text(item.get("type")), as_text(item.get("role"))
    if kind in ("", "message"):
        parts = read_content(item.get("content"), pointer + "/content")
        extra = opaque_fields(item, _KNOWN, pointer)
        known = "system" if role == "developer" else role
        return Message(known, (*parts, *extra), pointer, role, wire)
    if kind == "item_reference":
        return Message("", (opaque(kind, item, pointer),), pointer, kind, wire)
    result = read_result(as_text(item.get("call_id")), item.get("output"), pointer)
    extra = opaque_fields(item, _KNOWN_OF_RESULT, pointer)
    return Message("tool", (result, *extra), pointer, kind, wire)
