"""Blocks of the Messages format: system text, messages, results, usage."""

from collections.abc import Iterator
from itertools import chain

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Text, ToolCall
from proxyaudit.core.turn import Usage
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    as_text,
    dump,
    integer,
    opaque,
    opaque_fields,
    wire_of,
)
from proxyaudit.dialects.memo import Memo, Series
from proxyaudit.dialects.parts import read_content, read_part, read_result

# One client puts its version and a nonce there; the server takes it off before the model.
_CLIENT_NOISE = "x-anthropic-billing-header"
_KNOWN = frozenset({"role", "content", "id", "type", "cache_control"})
_KNOWN_OF_RESULT = frozenset({"type", "tool_use_id", "content", "cache_control"})
_MEMO = Memo[tuple[Message, ...]]()


def read_system(value: JSON) -> tuple[Message, ...]:
    """The system field, a string or blocks, as one message at /system; none if it says nothing."""
    return _MEMO.read(value, "/system", lambda wire: _system(value, wire))


def _system(value: JSON, wire: str) -> tuple[Message, ...]:
    parts = tuple(part for part in read_content(value, "/system") if not _is_noise(part))
    return (Message("system", parts, "/system", "system", wire),) if parts else ()


def _is_noise(part: Part) -> bool:
    return isinstance(part, Text) and part.text.startswith(_CLIENT_NOISE)


def read_messages(value: JSON, pointer: str) -> tuple[Message, ...]:
    """The messages of a history. One with tool results gives a message for each of them.

    So a history has the same messages in every format. What stands between results keeps its place.
    """
    return tuple(chain.from_iterable(_SERIES.read(as_list(value), pointer)))


def _one(item: JSON, pointer: str) -> tuple[Message, ...]:
    return _MEMO.read(item, pointer, lambda wire: tuple(_messages(item, pointer, wire)))


_SERIES = Series(_one)


def _messages(item: JSON, pointer: str, wire: str) -> Iterator[Message]:
    if not isinstance(item, dict):
        yield Message("", (opaque("message", item, pointer),), pointer, "", wire)
        return
    role, content = as_text(item.get("role")), item.get("content")
    extra = opaque_fields(item, _KNOWN, pointer)
    if not _has_results(content):
        parts = (*read_blocks(content, pointer + "/content"), *extra)
        yield Message(
            "system" if role == "developer" else role, parts, pointer, role, wire_of(item)
        )
        return
    rest: list[JSON] = []
    start = 0
    for at, block in enumerate(content if isinstance(content, list) else []):
        if _is_result(block):
            yield from _between(role, rest, f"{pointer}/content", start)
            rest, start = [], at + 1
            yield _result(as_object(block), f"{pointer}/content/{at}", role)
        else:
            rest.append(block)
    yield from _between(role, rest, f"{pointer}/content", start)
    if extra:
        yield Message(role, tuple(extra), pointer, role, "")


def _has_results(content: JSON) -> bool:
    return isinstance(content, list) and any(_is_result(block) for block in content)


def _is_result(block: JSON) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _between(role: str, blocks: list[JSON], pointer: str, start: int) -> Iterator[Message]:
    """A message of the blocks before, between or after results, the first of them at `start`."""
    parts = tuple(
        part
        for at, block in enumerate(blocks, start)
        for part in read_block(block, f"{pointer}/{at}")
    )
    if parts:
        yield Message(role, parts, f"{pointer}/{start}", role, wire_of(blocks))


def _result(block: JSONObject, pointer: str, role: str) -> Message:
    result = read_result(as_text(block.get("tool_use_id")), block.get("content"), pointer)
    known = _KNOWN_OF_RESULT if block.get("is_error") else _KNOWN_OF_RESULT | {"is_error"}
    parts = (result, *opaque_fields(block, known, pointer))
    return Message("tool", parts, pointer, role, wire_of(block))


def read_blocks(content: JSON, pointer: str) -> Iterator[Part]:
    """The parts of a content field without tool results: a string, or blocks."""
    if not isinstance(content, list):
        yield from read_content(content, pointer)
        return
    for at, block in enumerate(content):
        yield from read_block(block, f"{pointer}/{at}")


def read_block(block: JSON, place: str) -> Iterator[Part]:
    """One block; nothing for an empty text."""
    if isinstance(block, dict) and block.get("type") == "tool_use":
        given = block.get("input")
        arguments = given if isinstance(given, str) else dump({} if given is None else given)
        yield ToolCall(as_text(block.get("id")), as_text(block.get("name")), arguments, place)
    elif (part := read_part(block, place)) is not None:
        yield part


def read_usage(value: JSON, pointer: str) -> Usage | None:
    """Usage with the cached tokens counted into the prompt; None if there is none."""
    if not isinstance(value, dict):
        return None
    fresh = integer(value.get("input_tokens"))
    cached = integer(value.get("cache_read_input_tokens"))
    written = integer(value.get("cache_creation_input_tokens"))
    return Usage(
        prompt=None if fresh is None else fresh + (cached or 0) + (written or 0),
        completion=integer(value.get("output_tokens")),
        cached=cached,
        written=written,
        pointer=pointer,
    )
