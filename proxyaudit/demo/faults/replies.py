"""Faults in what is sent back: functions over the events of a stream.

A maker takes the request, as the client sent it, and gives an edit for one stream. The edit is
called with each whole SSE event, then with b"" at the end; it gives the events to send instead.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from proxyaudit.demo.script import Body, function_of, objects

type Edit = Callable[[bytes], list[bytes]]
type Maker = Callable[[Body], Edit]
type JSONEdit = Callable[[Body], list[Body]]

_CUT_AFTER = 7
_DONE = re.compile(rb"data:\s*\[DONE\]")


class EventCutter:
    """Cuts a byte stream into whole SSE events, the blank line that ends each included."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The events that this piece completes."""
        *events, self._rest = re.split(rb"(?<=\n\n)|(?<=\r\n\r\n)", self._rest + data)
        return [event for event in events if event]

    def end(self) -> list[bytes]:
        """What is left where the stream ends inside an event."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


def data_of(event: bytes) -> Any:
    """The JSON value of an event's data; None where there is none."""
    found = re.search(rb"^data:(.*)$", event, re.MULTILINE)
    try:
        return json.loads(found[1]) if found else None
    except ValueError:
        return None


def on_json(edit: JSONEdit) -> Edit:
    """An edit of events, made of one of their objects. What it leaves alone keeps its bytes."""

    def events(event: bytes) -> list[bytes]:
        data = data_of(event)
        if not isinstance(data, dict):
            return [event] if event else []
        changed = edit(copy.deepcopy(data))
        return [event] if changed == [data] else [_event(value) for value in changed]

    return events


def _event(value: Body) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _choices(data: Body) -> list[Body]:
    return objects(data.get("choices"))


def _deltas(data: Body) -> Iterator[Body]:
    for choice in _choices(data):
        if isinstance(delta := choice.get("delta"), dict):
            yield delta


def _calls(data: Body) -> Iterator[Body]:
    for delta in _deltas(data):
        yield from objects(delta.get("tool_calls"))


def _finishes(data: Any) -> bool:
    return isinstance(data, dict) and any(c.get("finish_reason") for c in _choices(data))


def _frame(data: Body, delta: Body) -> Body:
    """An event like this one, with another delta."""
    return {**data, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def buffer_stream(_: Body) -> Edit:
    """Everything is held back and sent in one burst at the end."""
    held: list[bytes] = []

    def edit(event: bytes) -> list[bytes]:
        if event:
            held.append(event)
        return [] if event else held

    return edit


def cut_stream(_: Body) -> Edit:
    """After a few events nothing more is sent."""
    count = 0

    def edit(event: bytes) -> list[bytes]:
        nonlocal count
        count += 1
        if count > _CUT_AFTER or _DONE.match(event) or _finishes(data_of(event)):
            count = _CUT_AFTER
            return []
        return [event] if event else []

    return edit


def error_in_stream(request: Body) -> Edit:
    """After a few events comes an error object, and no more."""
    cut, told = cut_stream(request), False

    def edit(event: bytes) -> list[bytes]:
        nonlocal told
        passed = cut(event)
        if passed or told:
            return passed
        told = True
        return [_event({"error": {"message": "upstream gave up", "type": "server_error"}})]

    return edit


def bad_frame(_: Body) -> Edit:
    """The second event is followed by half of a JSON object."""
    count = 0

    def edit(event: bytes) -> list[bytes]:
        nonlocal count
        count += 1
        half = [b'data: {"id":"chatcmpl-\n\n'] if count == 2 else []
        return [event, *half] if event else []

    return edit


def drop_done(_: Body) -> Edit:
    """The end sentinel is left out."""
    return lambda event: [event] if event and not _DONE.match(event) else []


def strip_reasoning_reply(_: Body) -> Edit:
    """Reasoning is taken out of the reply."""

    def edit(data: Body) -> list[Body]:
        gone = [d.pop(key) for d in _deltas(data) for key in ("reasoning_content",) if key in d]
        # An event of reasoning alone would be left empty, and is not sent at all.
        return [] if gone and not any(_deltas(data)) else [data]

    return on_json(edit)


def reasoning_in_content(_: Body) -> Edit:
    """Reasoning comes as visible text between tags."""
    inside = False

    def edit(data: Body) -> list[Body]:
        nonlocal inside
        for delta in _deltas(data):
            thought = delta.pop("reasoning_content", None)
            if thought:
                delta["content"] = thought if inside else f"<think>{thought}"
                inside = True
            elif inside and (delta or _finishes(data)):
                delta["content"] = f"</think>{delta.get('content') or ''}"
                inside = False
        return [data]

    return on_json(edit)


def replace_utf8(_: Body) -> Edit:
    """Letters outside ASCII arrive as replacement characters."""

    def edit(data: Body) -> list[Body]:
        for delta in _deltas(data):
            if isinstance(text := delta.get("content"), str):
                delta["content"] = re.sub(r"[^\x00-\x7f]", "\ufffd", text)
        return [data]

    return on_json(edit)


def change_text(_: Body) -> Edit:
    """The first words of the reply's text are others."""
    changed = False

    def edit(data: Body) -> list[Body]:
        nonlocal changed
        for delta in _deltas(data):
            if delta.get("content") and not changed:
                changed, delta["content"] = True, "Well then,"
        return [data]

    return on_json(edit)


def double_encode_arguments(_: Body) -> Edit:
    """The arguments of tool calls are a JSON string that holds JSON."""
    opened: list[object] = []

    def edit(data: Body) -> list[Body]:
        for call in _calls(data):
            function, index = function_of(call), call.get("index")
            raw = function.get("arguments")
            if isinstance(raw, str) and raw:
                first = "" if index in opened else '"'
                opened.extend([index] if first else [])
                function["arguments"] = first + json.dumps(raw, ensure_ascii=False)[1:-1]
        if not _finishes(data) or not opened:
            return [data]
        ends = [{"index": index, "function": {"arguments": '"'}} for index in opened]
        opened.clear()
        return [_frame(data, {"tool_calls": ends}), data]

    return on_json(edit)


def tool_markup(_: Body) -> Edit:
    """Tool calls come as markup in the visible text."""
    gathered: dict[object, list[str]] = {}

    def edit(data: Body) -> list[Body]:
        for call in _calls(data):
            function = function_of(call)
            names_and_arguments = gathered.setdefault(call.get("index"), ["", ""])
            names_and_arguments[0] += str(function.get("name") or "")
            names_and_arguments[1] += str(function.get("arguments") or "")
        if any(_calls(data)):
            return []
        if not _finishes(data) or not gathered:
            return [data]
        said = [
            f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>\n'
            for name, arguments in gathered.values()
        ]
        for choice in _choices(data):
            choice["finish_reason"] = "stop"
        return [_frame(data, {"content": "".join(said)}), data]

    return on_json(edit)


def drop_index(_: Body) -> Edit:
    """Pieces of tool calls come without their index."""

    def edit(data: Body) -> list[Body]:
        for call in _calls(data):
            call.pop("index", None)
        return [data]

    return on_json(edit)


def same_index(_: Body) -> Edit:
    """All parallel tool calls come under index 0."""

    def edit(data: Body) -> list[Body]:
        for call in _calls(data):
            call["index"] = 0
        return [data]

    return on_json(edit)


def finish_stop(_: Body) -> Edit:
    """A reply that calls tools says it has stopped."""

    def edit(data: Body) -> list[Body]:
        for choice in _choices(data):
            if choice.get("finish_reason") == "tool_calls":
                choice["finish_reason"] = "stop"
        return [data]

    return on_json(edit)


def restore_model(request: Body) -> Edit:
    """The reply bears the name of the model that the client asked for."""
    return on_json(lambda data: [{**data, "model": request.get("model")}])
