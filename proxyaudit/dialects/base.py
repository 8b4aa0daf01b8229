"""What a dialect is. Each module in this package has one `DIALECT`, found by discovery."""

from collections.abc import Sequence
from typing import Literal, Protocol

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSONObject
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault

type Framing = Literal["events", "lines", "array"]


class Dialect(Protocol):
    """A wire format: how to read requests and replies, and how to write a request.

    `framing` is how its streams come if not as server-sent events, which every dialect may use:
    JSON lines, or the elements of one JSON array.
    """

    name: str
    framing: Framing

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """Whether this exchange speaks the dialect; `body` is the parsed request body."""
        ...

    def read_prompt(self, body: JSONObject) -> Prompt:
        """The prompt in a request body. Never raises: what it does not know becomes Opaque."""
        ...

    def read_reply(self, body: JSONObject) -> Reply:
        """The reply in a plain response body, an error object included."""
        ...

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        """The reply that a stream adds up to; `faults` are those of the decoder."""
        ...

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """A request body: `read_prompt(write_prompt(p)) == p` but for pointers."""
        ...
