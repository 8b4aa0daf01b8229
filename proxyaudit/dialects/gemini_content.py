"""Contents of the Gemini format: roles and parts, in a request's history and in a reply.

What the model said in one reply may stand in several contents (clients keep a stream's pieces) and
text in several parts: both are joined, so that a reply and the history it becomes part of agree.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    as_text,
    dump,
    integer,
    is_blank,
    opaque,
    wire_of,
    word,
)
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.parts import media_digest, read_content, read_part
from proxyaudit.dialects.unnamed import Pairing, with_call_ids

# The field of a function's answer that holds its text, where the answer is nothing but text.
_ANSWERS = ("output", "result", "content", "error")
_SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "thoughtSignature": "thought_signature",
}
_MEMO = Memo[Message]()


def read_system(body: JSONObject) -> tuple[Message, ...]:
    """The system instruction as a message; none if it says nothing."""
    key = next((k for k in ("systemInstruction", "system_instruction") if k in body), None)
    value = body.get(key) if key else None
    if is_blank(value):
        return ()
    parts = tuple(read_parts(value, f"/{key}"))
    return (Message("system", parts, f"/{key}", "system", wire_of(value)),) if parts else ()


def read_contents(value: JSON, pointer: str) -> tuple[Message, ...]:
    """The messages of a history; a content with results gives a message for each of them."""
    if isinstance(value, str):
        return (Message("user", (Text(value, pointer),), pointer, "user", wire_of(value)),)
    placed = [(f"{pointer}/{at}", item) for at, item in enumerate(as_list(value))]
    pairing = Pairing()
    messages: list[Message] = []
    for said, group in groupby(placed, key=lambda pair: _role(pair[1]) == "model"):
        items = list(group)
        if said:
            messages.append(said_message(items, items[0][0]))
            pairing.said(messages[-1])
        else:
            messages += (m for place, item in items for m in _others(item, place, pairing))
    return tuple(messages)


def said_message(items: Sequence[tuple[str, JSON]], pointer: str) -> Message:
    """One assistant message of contents with their pointers."""
    sent: list[JSON] = [item for _, item in items]

    def read(wire: str) -> Message:
        parts = joined(part for place, item in items for part in read_parts(item, place))
        return Message("assistant", tuple(with_call_ids(parts)), pointer, "model", wire)

    return _MEMO.read(sent, pointer, read, pieces=sent)


def joined(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts with neighbouring texts, and neighbouring thoughts, made one."""
    last: Part | None = None
    for part in parts:
        if isinstance(last, Text) and isinstance(part, Text):
            last = replace(last, text=last.text + part.text)
        elif isinstance(last, Reasoning) and isinstance(part, Reasoning) and not last.signature:
            last = replace(last, text=last.text + part.text, signature=part.signature)
        else:
            if last is not None:
                yield last
            last = part
    if last is not None:
        yield last


def _role(item: JSON) -> str:
    return as_text(as_object(item).get("role")) or "user"


def _others(item: JSON, pointer: str, pairing: Pairing) -> Iterator[Message]:
    """What the model did not say: text, and results, each a message in its place."""
    if not isinstance(item, dict):
        yield Message("", (opaque("message", item, pointer),), pointer, "", wire_of(item))
        return
    role = _role(item)
    listed = item.get("parts")
    if not isinstance(listed, list) or not any(_is_result(part) for part in listed):
        yield _MEMO.read(item, pointer, lambda wire: _message(item, role, pointer, wire))
        return
    for is_result, group in groupby(enumerate(listed), key=lambda pair: _is_result(pair[1])):
        placed = [(f"{pointer}/parts/{at}", part) for at, part in group]
        if is_result:
            yield from (_result(as_object(part), role, place, pairing) for place, part in placed)
        else:
            parts = tuple(p for place, part in placed for p in _part(part, place))
            if parts:
                yield Message(role, parts, placed[0][0], role, wire_of([p for _, p in placed]))


def _message(item: JSONObject, role: str, pointer: str, wire: str) -> Message:
    return Message(role, tuple(read_parts(item, pointer)), pointer, role, wire)


def _is_result(part: JSON) -> bool:
    return isinstance(_field(as_object(part), "functionResponse"), dict)


def _result(part: JSONObject, role: str, pointer: str, pairing: Pairing) -> Message:
    answer = as_object(_field(part, "functionResponse"))
    call_id = pairing.answer(as_text(answer.get("name")), as_text(answer.get("id")))

    def read(_: str) -> Message:
        place = f"{pointer}/{_key(part, 'functionResponse')}"
        media = (p for p in _media_of(answer.get("parts"), place) if isinstance(p, Media))
        result = ToolResult(call_id, _answer_text(answer.get("response")), tuple(media), place)
        return Message("tool", (result,), place, role, wire_of(part))

    return _MEMO.read({call_id: part}, pointer, read)


def _media_of(value: JSON, pointer: str) -> Iterator[Part]:
    for at, item in enumerate(as_list(value)):
        yield from _part(item, f"{pointer}/parts/{at}")


def _answer_text(response: JSON) -> str:
    """The text of a function's answer, an object: its only field of a known name, or all of it."""
    if isinstance(response, dict) and len(response) == 1:
        name, value = next(iter(response.items()))
        if name in _ANSWERS:
            return value if isinstance(value, str) else dump(value)
    if is_blank(response):
        return ""
    return response if isinstance(response, str) else dump(response)


def read_parts(content: JSON, pointer: str) -> Iterator[Part]:
    """The parts of a content; a string, or a list of parts, is taken as well."""
    if not isinstance(content, dict):
        yield from read_content(content, pointer)
        return
    listed = content.get("parts")
    if listed is None and "text" in content:
        yield from _part(content, pointer)
    elif isinstance(listed, list):
        for at, item in enumerate(listed):
            yield from _part(item, f"{pointer}/parts/{at}")
    else:
        yield from read_content(listed, f"{pointer}/parts")


def _part(item: JSON, pointer: str) -> Iterator[Part]:
    """A part, and before it the signature of the thought that led to it, if it bears one."""
    if not isinstance(item, dict):
        yield from read_content(item, pointer)
        return
    signature = word(_field(item, "thoughtSignature"))
    text, call = item.get("text"), _field(item, "functionCall")
    if item.get("thought") is True and (isinstance(text, str) or signature):
        yield Reasoning(as_text(text), signature, pointer)
        return
    if signature:
        yield Reasoning("", signature, pointer)
    if isinstance(call, dict):
        yield _call(call, f"{pointer}/{_key(item, 'functionCall')}")
    elif isinstance(text, str) and "type" not in item:
        yield from [Text(text, pointer)] if text else []
    elif not signature or set(item) - {"thoughtSignature", "thought_signature"}:
        other = _media(item, pointer) or read_part(item, pointer)
        yield from [other] if other is not None else []


def _call(call: JSONObject, pointer: str) -> ToolCall:
    given = call.get("args")
    arguments = given if isinstance(given, str) else dump({} if given is None else given)
    return ToolCall(as_text(call.get("id")), as_text(call.get("name")), arguments, pointer)


def _media(item: JSONObject, pointer: str) -> Media | None:
    data = as_object(_field(item, "inlineData")) or as_object(_field(item, "fileData"))
    address = next((data[k] for k in ("data", "fileUri", "file_uri") if data.get(k)), None)
    if not isinstance(address, str):
        return None
    form = as_text(data.get("mimeType")) or as_text(data.get("mime_type"))
    kind = form.partition("/")[0]
    known = kind if kind in ("image", "audio", "video") else "file"
    return Media(known, media_digest(address), pointer)


def _key(item: JSONObject, name: str) -> str:
    return name if name in item else _SNAKE[name]


def _field(item: JSONObject, name: str) -> JSON:
    """A field under its name, or as the same name is written in the other spelling of JSON."""
    return item.get(_key(item, name))


def count_of(value: JSONObject, *names: str) -> int | None:
    """The sum of those counts that are there; None if none is."""
    found = [n for name in names if (n := integer(value.get(name))) is not None]
    return sum(found) if found else None
