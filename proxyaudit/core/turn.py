"""A turn: an exchange read by its dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON
from proxyaudit.core.message import Message

type Side = Literal["client.request", "client.response", "upstream.request", "upstream.response"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer. `definition` is canonical JSON of description and parameter schema."""

    name: str
    definition: str
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was asked. `settings` are the other request fields, under their common names.

    Common names: max_tokens, temperature, top_p, stop, seed, tool_choice, thinking, … ; a field
    with no common name keeps its own. `setting_pointers` tells where each stood.
    `previous_id` names a reply kept by the server, whose history this prompt continues; `rebuilt`
    says that this history was recorded and stands at the front of `messages` now.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    model: str | None = None
    stream: bool = False
    settings: Mapping[str, JSON] = field(default_factory=dict)
    setting_pointers: Mapping[str, str] = field(default_factory=dict)
    previous_id: str | None = None
    messages_pointer: str = "/messages"
    rebuilt: bool = False

    @property
    def hides_history(self) -> bool:
        """Whether messages that the model saw are neither in the request nor put back."""
        return self.previous_id is not None and not self.rebuilt


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as reported; None where not reported.

    `prompt` includes cached tokens; `cached` were read from a cache, `written` were put into one.
    """

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    pointer: str = field(default="/usage", compare=False)
    written: int | None = None


@dataclass(frozen=True, slots=True)
class CallDelta:
    """One piece of a streamed tool call, as sent; None where the field was absent."""

    event: int
    index: int | None
    id: str | None
    name: str | None
    arguments: str | None


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream: number from 0, seconds since the request, name and data."""

    number: int
    at: float | None
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class StreamFault:
    """Something wrong in a stream that decoders swallow.

    `kind`: bad_json (a data frame that is not JSON), bad_utf8, torn (ends inside an event),
    bad_line, error (an error object), replacement (a replacement character in the text).
    """

    kind: Literal["bad_json", "bad_utf8", "torn", "bad_line", "error", "replacement"]
    event: int
    detail: str


@dataclass(frozen=True, slots=True)
class Stream:
    """How a streamed reply arrived. `done` says whether the dialect's end sentinel was seen.

    `text_times` are the seconds at which text, reasoning or call pieces arrived, one per event.
    """

    events: tuple[StreamEvent, ...]
    faults: tuple[StreamFault, ...] = ()
    call_deltas: tuple[CallDelta, ...] = ()
    done: bool = False
    needs_done: bool = True
    text_times: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `message` is None where nothing was said (an error, an empty body).

    `finish` is normalised: stop, length, tool_calls, content_filter, or the word as sent;
    `finish_raw` is the word as sent. `error` is the text of an error object. `stream` is None for a
    plain reply. `message.pointer` is its place in the body, or /stream for a streamed one.
    `more` holds further choices of the same reply (n > 1).
    """

    message: Message | None = None
    finish: str | None = None
    finish_raw: str | None = None
    finish_pointer: str = ""
    usage: Usage | None = None
    model: str | None = None
    id: str | None = None
    error: str | None = None
    stream: Stream | None = None
    more: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange, the prompt it carried and the reply it got (None: no readable reply).

    A websocket is one recorded exchange and holds several turns, numbered by `part` from 0. There
    `exchange` is a view of that part alone: the frame that asked as request body, the frames that
    answered as response body, a line each, with the status they tell (else 200), times counted
    from the question, and `websocket` with the frames themselves.
    The view of part 0 bears the recorded id, a later one `<recorded id>#<part + 1>`, and so do the
    places in it; pointers go into the frame that asked, /stream/N is frame N of the answer.
    """

    exchange: Exchange
    dialect: str
    prompt: Prompt
    reply: Reply | None = None
    part: int = 0

    @property
    def id(self) -> str:
        return self.exchange.id

    @property
    def recorded_id(self) -> str:
        """The id of the recorded exchange that this turn is, or is a part of."""
        return self.id.removesuffix(part_suffix(self.part))

    @property
    def status(self) -> int | None:
        return self.exchange.response.status if self.exchange.response else None

    @property
    def ok(self) -> bool:
        """Whether the reply came whole: success status, natural end, no error inside."""
        reply, status = self.reply, self.status
        whole = reply is not None and reply.error is None and reply.message is not None
        cut = reply is not None and reply.stream is not None and reply.finish is None
        return whole and not cut and self._ended and status in range(200, 300)

    @property
    def _ended(self) -> bool:
        """Whether nothing more was to come: clients hang up behind the last event (Codex)."""
        stream = self.reply.stream if self.reply else None
        seen = stream is not None and stream.done and self.exchange.end == "client_abort"
        return seen or self.exchange.end == "complete"

    @property
    def is_websocket(self) -> bool:
        return self.exchange.websocket is not None

    @property
    def request_side(self) -> Side:
        return "client.request" if self.exchange.tap == "client" else "upstream.request"

    @property
    def response_side(self) -> Side:
        return "client.response" if self.exchange.tap == "client" else "upstream.response"


def part_suffix(part: int) -> str:
    """What part N of an exchange has at the end of its id: nothing, #2, #3, …"""
    return f"#{part + 1}" if part else ""
