"""Calls and results of formats without ids: paired by name and order.

A call gets an id by its place among the calls of that tool in its message (`core.message.unnamed`),
a result the id of the first open call that fits it. Ids that were sent stay as they are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.message import UNNAMED, Message, Part, ToolCall, ToolResult, is_sent, unnamed

NO_IDS = frozenset({"gemini", "ollama-chat"})
"""The dialects in which calls may have no ids."""


def with_call_ids(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts of one message; each call without an id gets one."""
    seen: Counter[str] = Counter()
    for part in parts:
        if isinstance(part, ToolCall):
            seen[part.name] += 1
            yield part if part.id else replace(part, id=unnamed(part.name, seen[part.name]))
        else:
            yield part


@dataclass(slots=True)
class Pairing:
    """Walks through a history: `said` takes each message, `answer` tells what a result answers."""

    _open: list[ToolCall] = field(default_factory=list)

    def said(self, message: Message) -> None:
        """A message of the model with calls opens them, and closes those before it."""
        if message.ids and (calls := message.calls):
            self._open = list(calls)

    def answer(self, name: str, sent: str = "") -> str:
        """The id of the call that a result answers: `sent`, else by name, else the next one.

        An id of no call if none is open.
        """
        fits = (call for call in self._open if (call.id == sent if sent else call.name == name))
        found = next(fits, None)
        if found is None and not sent and not name:
            found = next(iter(self._open), None)
        if found is None:
            return sent or f"{UNNAMED}{name} without a call"
        self._open = [call for call in self._open if call is not found]
        return found.id


def lacks_ids(*histories: Sequence[Message]) -> bool:
    """Whether calls or results in them have no id that was sent."""
    return any(
        id_.startswith(UNNAMED)
        for history in histories
        for message in history
        for id_ in message.ids
    )


def has_ids(*histories: Sequence[Message]) -> bool:
    """Whether calls or results in them have an id that was sent."""
    return any(is_sent(id_) for history in histories for message in history for id_ in message.ids)


def without_ids(history: Sequence[Message]) -> tuple[Message, ...]:
    """A history as a format without ids would tell it: how one with ids is compared to it."""
    renamed: dict[str, str] = {}
    return tuple(_without_ids(message, renamed) for message in history)


def _without_ids(message: Message, renamed: dict[str, str]) -> Message:
    if not message.ids:
        return message
    parts = tuple(replace(p, id="") if isinstance(p, ToolCall) else p for p in message.parts)
    parts = tuple(with_call_ids(parts))
    renamed.update(
        (old.id, new.id)
        for old, new in zip(message.parts, parts, strict=True)
        if isinstance(old, ToolCall) and isinstance(new, ToolCall)
    )
    answers = (
        replace(p, call_id=_answer(p.call_id, renamed)) if isinstance(p, ToolResult) else p
        for p in parts
    )
    told = tuple(answers)
    return message if told == message.parts else replace(message, parts=told)


def _answer(call_id: str, renamed: dict[str, str]) -> str:
    return renamed.get(call_id, f"{UNNAMED} without a call" if is_sent(call_id) else call_id)
