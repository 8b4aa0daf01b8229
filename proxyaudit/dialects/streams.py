"""What the streams of all dialects have in common: JSON events, faults, times, torn calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proxyaudit.core.json import JSONObject
from proxyaudit.core.message import ToolCall
from proxyaudit.core.turn import CallDelta, Stream, StreamEvent, StreamFault
from proxyaudit.dialects.fields import QUOTE, parse_json

SENTINEL = "[DONE]"
POINTER = "/stream"
_REPLACEMENT = "\ufffd"


class StreamReader:
    """Walks the events of a stream and notes what a decoder of one dialect would swallow.

    `has_sentinel` says whether [DONE] is how a stream of the dialect ends.
    """

    def __init__(
        self,
        events: Sequence[StreamEvent],
        faults: Sequence[StreamFault],
        has_sentinel: bool = True,
    ) -> None:
        self.events = tuple(events)
        self._has_sentinel = has_sentinel
        self.done = False
        self.error: str | None = None
        self.deltas: list[CallDelta] = []
        self._faults = list(faults)
        self._times: list[float] = []
        self._torn = {fault.event for fault in faults if fault.kind == "torn"}
        self._corrupt = {fault.event for fault in faults if fault.kind == "bad_utf8"}

    def objects(self) -> Iterator[tuple[StreamEvent, JSONObject]]:
        """The events that hold a JSON object; the others become faults.

        An event that the stream tore is no bad frame beside: its fault is there already.
        """
        for event in self.events:
            if event.data.strip() == SENTINEL:
                self.done = self.done or self._has_sentinel
                continue
            try:
                body = parse_json(event.data)
            except ValueError:
                body = None
            if isinstance(body, dict):
                yield event, body
            elif event.number not in self._torn:
                self._faults.append(StreamFault("bad_json", event.number, event.data[:QUOTE]))

    def saw(self, event: StreamEvent, *pieces: str) -> None:
        """Text, reasoning or arguments came with an event."""
        if not any(pieces):
            return
        if event.at is not None:
            self._times.append(event.at)
        broken = next((piece for piece in pieces if _REPLACEMENT in piece), None)
        if broken is not None and event.number not in self._corrupt:
            self._faults.append(StreamFault("replacement", event.number, broken[:QUOTE]))

    def failed(self, event: StreamEvent, text: str) -> None:
        """An error object came with an event."""
        self.error = self.error or text
        self._faults.append(StreamFault("error", event.number, text[:QUOTE]))

    def stream(self) -> Stream:
        return Stream(
            events=self.events,
            faults=tuple(sorted(self._faults, key=lambda fault: fault.event)),
            call_deltas=tuple(self.deltas),
            done=self.done,
            text_times=tuple(self._times),
        )


@dataclass(slots=True)
class _Torn:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallAssembler:
    """Puts the pieces of streamed calls together the way a forgiving client does.

    A piece belongs to the call with its index, else to the one with its id, else to the last one.
    A new id under a used index begins a new call: two calls must not become one here.
    """

    def __init__(self) -> None:
        self._calls: list[_Torn] = []

    def add(self, delta: CallDelta) -> None:
        call = self._find(delta)
        if call is None:
            call = _Torn(delta.index)
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        # A name may come in pieces, but never after the arguments have begun.
        if delta.name and not any(call.arguments) and delta.name != call.name:
            call.name += delta.name
        if delta.arguments:
            call.arguments.append(delta.arguments)

    def _find(self, delta: CallDelta) -> _Torn | None:
        known = reversed(self._calls)
        if delta.index is not None:
            found = next((call for call in known if call.index == delta.index), None)
        elif delta.id:
            found = next((call for call in known if call.id == delta.id), None)
        else:
            found = next(known, None)
        other = found is not None and delta.id and found.id and delta.id != found.id
        return None if other else found

    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(call.id, call.name, "".join(call.arguments), POINTER) for call in self._calls
        )
