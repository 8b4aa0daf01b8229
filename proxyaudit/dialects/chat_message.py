"""One message in the shape of chat completions, as in a request or in a plain reply."""

from collections.abc import Iterator

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Media, Message, Part, Reasoning, ToolCall, digest
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    as_text,
    dump,
    is_blank,
    opaque,
    opaque_fields,
    word,
)
from proxyaudit.dialects.memo import Memo, Series
from proxyaudit.dialects.parts import read_content, read_result

_KNOWN = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "cache_control", "id", "index"}
    | {"type", "status", "reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}
)
# A client sends back of a reply what its SDK knows: of further fields on assistant messages only
# these reach the model, the others (annotations, provider_specific_fields, …) are vendors' noise.
_ON_ASSISTANT = frozenset({"name", "prefix", "partial"})
_RESULT_ROLES = ("tool", "function")
_ROLES = {"developer": "system", "function": "tool", "model": "assistant"}
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""The fields of a message that hold its reasoning, one vendor or another."""

_DETAIL_TEXTS = ("text", "summary", "thinking")
_SIGNATURES = ("signature", "data")
_MEMO = Memo[Message]()


def read_message(item: JSON, pointer: str) -> Message:
    """One message; what is no message becomes one with an opaque part."""
    return _MEMO.read(item, pointer, lambda wire: _read(item, pointer, wire))


_SERIES = Series(read_message)


def read_messages(value: JSON, pointer: str) -> tuple[Message, ...]:
    """The messages of a history; `pointer` is that of the list."""
    return _SERIES.read(as_list(value), pointer)


def _read(item: JSON, pointer: str, wire: str) -> Message:
    if not isinstance(item, dict):
        return Message("", (opaque("message", item, pointer),), pointer, "", wire)
    raw_role = as_text(item.get("role"))
    role = _ROLES.get(raw_role, raw_role)
    parts = _result(item, pointer) if raw_role in _RESULT_ROLES else _said(item, role, pointer)
    return Message(role, tuple(parts), pointer, raw_role, wire)


def _result(item: JSONObject, pointer: str) -> Iterator[Part]:
    call_id = as_text(item.get("tool_call_id")) or as_text(item.get("name"))
    yield read_result(call_id, item.get("content"), pointer)
    yield from opaque_fields(item, _KNOWN | {"tool_call_id", "name"}, pointer)


def _said(item: JSONObject, role: str, pointer: str) -> Iterator[Part]:
    yield from read_thoughts(item, pointer)
    yield from read_content(item.get("content"), pointer + "/content")
    if not is_blank(item.get("refusal")):
        yield opaque("refusal", item["refusal"], pointer + "/refusal")
    if role == "assistant" and (sound := word(as_object(item.get("audio")).get("id"))):
        yield Media("audio", digest(sound), pointer + "/audio")
    yield from _calls(item, pointer)
    noise = frozenset(item) - _ON_ASSISTANT if role == "assistant" else frozenset[str]()
    yield from opaque_fields(item, _KNOWN | noise, pointer)


def read_thoughts(item: JSONObject, pointer: str) -> Iterator[Reasoning]:
    """The reasoning of a message: one part, whichever of its fields a server likes to fill.

    Where a server gives the same thought in several fields, the first one counts.
    """
    text, signature, place = "", None, ""
    for key in THOUGHTS:
        found, signed = thought_in(item.get(key))
        place = place or (f"{pointer}/{key}" if found or signed else "")
        text, signature = text or found, signature or signed
    if place:
        yield Reasoning(text, signature, place)


def thought_in(value: JSON) -> tuple[str, str | None]:
    """Text and signature of a reasoning field: a string, or a list of details."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, dict):
        value = [value]
    texts, signatures = [], []
    for detail in as_list(value):
        item = as_object(detail)
        texts.append(next((t for key in _DETAIL_TEXTS if (t := as_text(item.get(key)))), ""))
        signatures.append(next((s for key in _SIGNATURES if (s := as_text(item.get(key)))), ""))
    return "".join(texts), "".join(signatures) or None


def _calls(item: JSONObject, pointer: str) -> Iterator[Part]:
    calls = item.get("tool_calls")
    if not is_blank(calls) and not isinstance(calls, list):
        yield opaque("field:tool_calls", calls, pointer + "/tool_calls")
    for at, call in enumerate(as_list(calls)):
        place = f"{pointer}/tool_calls/{at}"
        yield _call(call, place) if isinstance(call, dict) else opaque("call", call, place)
    legacy = item.get("function_call")
    if isinstance(legacy, dict):
        # It has no id: its answer names the function instead.
        name = as_text(legacy.get("name"))
        yield ToolCall(name, name, arguments_text(legacy), pointer + "/function_call")


def _call(call: JSONObject, pointer: str) -> ToolCall:
    inner = as_object(call.get("function")) or as_object(call.get("custom"))
    name = as_text(inner.get("name"))
    return ToolCall(as_text(call.get("id")), name, arguments_text(inner), pointer)


def arguments_text(function: JSONObject) -> str:
    """Arguments as sent; some servers send an object where the format has a string."""
    value = function.get("arguments", function.get("input"))
    if isinstance(value, str):
        return value
    return "" if value is None else dump(value)
