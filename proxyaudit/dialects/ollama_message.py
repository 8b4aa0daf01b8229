"""Messages of Ollama's chat format, in a request's history and in a reply."""

from collections.abc import Iterator

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import UNNAMED, Media, Message, Part, Reasoning, ToolCall
from proxyaudit.core.turn import Usage
from proxyaudit.dialects.chat_message import arguments_text
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    as_text,
    dump,
    integer,
    is_blank,
    opaque,
    opaque_fields,
    value_of_text,
    wire_of,
    word,
)
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.parts import (
    media_digest,
    read_content,
    read_part,
    read_result,
    simplest,
    write_content,
    write_fields,
    write_result,
)
from proxyaudit.dialects.unnamed import Pairing, with_call_ids

_KNOWN = frozenset({"role", "content", "thinking", "images", "tool_calls"})
_KNOWN_OF_RESULT = frozenset({"role", "content", "tool_name", "name", "tool_call_id"})
_MEMO = Memo[Message]()


def read_history(value: JSON, pointer: str) -> tuple[Message, ...]:
    """The messages of a history. Results say which tool they are of, and newer ones the call."""
    pairing = Pairing()
    messages = []
    for at, item in enumerate(as_list(value)):
        message = _read(item, f"{pointer}/{at}", pairing)
        pairing.said(message)
        messages.append(message)
    return tuple(messages)


def _read(item: JSON, pointer: str, pairing: Pairing) -> Message:
    if not isinstance(item, dict):
        return Message("", (opaque("message", item, pointer),), pointer, "", wire_of(item))
    if item.get("role") != "tool":
        return read_said(item, pointer)
    name = as_text(item.get("tool_name")) or as_text(item.get("name"))
    call_id = pairing.answer(name, as_text(item.get("tool_call_id")))

    def read(_: str) -> Message:
        result = read_result(call_id, item.get("content"), pointer)
        parts = (result, *opaque_fields(item, _KNOWN_OF_RESULT, pointer))
        return Message("tool", parts, pointer, "tool", wire_of(item))

    return _MEMO.read({call_id: item}, pointer, read)


def read_said(item: JSONObject, pointer: str) -> Message:
    """A message that is no result."""
    return _MEMO.read(item, pointer, lambda wire: _said(item, pointer, wire))


def _said(item: JSONObject, pointer: str, wire: str) -> Message:
    raw_role = as_text(item.get("role"))
    parts = list(with_call_ids(_parts(item, pointer)))
    if raw_role != "assistant":
        parts += opaque_fields(item, _KNOWN, pointer)
    return Message(
        "system" if raw_role == "developer" else raw_role, tuple(parts), pointer, raw_role, wire
    )


def _parts(item: JSONObject, pointer: str) -> Iterator[Part]:
    thought = item.get("thinking")
    if not is_blank(thought):
        text = thought if isinstance(thought, str) else dump(thought)
        yield Reasoning(text, None, pointer + "/thinking")
    yield from read_content(item.get("content"), pointer + "/content")
    for at, image in enumerate(as_list(item.get("images"))):
        place = f"{pointer}/images/{at}"
        if isinstance(image, str):
            yield Media("image", media_digest(image), place)
        elif (part := read_part(image, place)) is not None:
            yield part
    for at, call in enumerate(as_list(item.get("tool_calls"))):
        yield read_call(call, f"{pointer}/tool_calls/{at}")


def read_call(call: JSON, pointer: str) -> Part:
    """One call; its arguments are an object."""
    if not isinstance(call, dict):
        return opaque("call", call, pointer)
    inner = as_object(call.get("function"))
    return ToolCall(
        as_text(call.get("id")), as_text(inner.get("name")), arguments_text(inner), pointer
    )


def read_counts(body: JSONObject, pointer: str) -> Usage | None:
    """The counts at the end of a reply: its last line, or the plain body."""
    prompt, completion = integer(body.get("prompt_eval_count")), integer(body.get("eval_count"))
    if prompt is None and completion is None:
        return None
    return Usage(prompt=prompt, completion=completion, pointer=f"{pointer}/prompt_eval_count")


def write_message(message: Message, names: dict[str, str]) -> JSON:
    """One message; `names` gives the tool of a call id."""
    role = message.raw_role if message.role == "system" and message.raw_role else message.role
    if message.results:
        return _write_result(message, names)
    content = write_content(message.parts, "text")
    written: JSONObject = {"role": role, "content": simplest(content) if content else ""}
    if message.thoughts:
        written["thinking"] = "".join(thought.text for thought in message.thoughts)
    if message.calls:
        written["tool_calls"] = [_write_call(call) for call in message.calls]
    return written | write_fields(message.parts)


def _write_result(message: Message, names: dict[str, str]) -> JSON:
    result = message.results[0]
    written: JSONObject = {"role": "tool", "content": write_result(result, "text")}
    if name := names.get(result.call_id):
        written["tool_name"] = name
    if not result.call_id.startswith(UNNAMED):
        written["tool_call_id"] = result.call_id
    return written | write_fields(message.parts)


def _write_call(call: ToolCall) -> JSON:
    value = value_of_text(call.arguments) if call.arguments.strip() else {}
    arguments = value if isinstance(value, dict) else call.arguments
    function: JSONObject = {"name": call.name, "arguments": arguments}
    head: JSONObject = {} if call.id.startswith(UNNAMED) else {"id": call.id}
    return {**head, "function": function}


def finish_of(body: JSONObject, has_calls: bool) -> tuple[str | None, str | None]:
    """The reason to stop, normalised and as sent; a reply that is done stops for some reason."""
    raw = word(body.get("done_reason"))
    if body.get("done") is not True and raw is None:
        return None, None
    kind = raw or "stop"
    return ("tool_calls" if kind == "stop" and has_calls else kind), raw
