"""The faulty proxy: a mitmproxy addon around the pure faults. Knows flows only by their shape."""

import json
import logging
from collections.abc import Sequence
from typing import Any

from proxyaudit.core.errors import UserError
from proxyaudit.demo.chat import dumps
from proxyaudit.demo.faults.catalogue import DEFAULT, FAULTS, Fault, find, strikes
from proxyaudit.demo.faults.replies import Edit, EventCutter
from proxyaudit.demo.script import Body

log = logging.getLogger("proxyaudit.faults")
_FAR_TOO_LONG = "1000000000"


class Faults:
    """A proxy that goes wrong in one way, from user turn `from_turn` on.

    Requests without tools are left alone unless `side_requests`. What is not to be broken passes
    with its exact bytes. As a script it has the options `fault`, `fault_from_turn` and
    `fault_side_requests`; their defaults are what the addon was made with.
    """

    def __init__(
        self, fault: str = DEFAULT, from_turn: int = 4, *, side_requests: bool = False
    ) -> None:
        self.fault: Fault = find(fault)
        self.from_turn = from_turn
        self.side_requests = side_requests
        self._options: Any = None
        self._edits: dict[str, Edit] = {}

    def load(self, loader: Any) -> None:
        """Declare the options; the loader's master is where their values will be."""
        self._options = loader.master.options
        names = [fault.name for fault in FAULTS]
        loader.add_option("fault", str, self.fault.name, "What goes wrong.", choices=names)
        loader.add_option("fault_from_turn", int, self.from_turn, "First user turn to go wrong.")
        loader.add_option(
            "fault_side_requests", bool, self.side_requests, "Touch requests without tools, too."
        )

    def configure(self, updated: set[str]) -> None:
        """Take over changed options."""
        if self._options is not None and any(name.startswith("fault") for name in updated):
            try:
                self.fault = find(self._options.fault)
            except UserError as error:
                # An exception in a script is shown with its traceback. An error in the log is not,
                # and ends a proxy that is just starting all the same.
                log.error("%s: %s", error.message, error.hint)
            self.from_turn = self._options.fault_from_turn
            self.side_requests = self._options.fault_side_requests

    def request(self, flow: Any) -> None:
        """Change a chat request that is due, and remember what its reply is due."""
        body = _chat_body(flow.request)
        if body is None or not strikes(body, self.from_turn, side_requests=self.side_requests):
            return
        changed = self.fault.transform_request(body)
        if changed != body:
            flow.request.content = dumps(changed)
        if self.fault.reply:
            self._edits[flow.id] = self.fault.reply(body)

    def responseheaders(self, flow: Any) -> None:
        """Let every response through as it comes, a stream that is due through the edit."""
        edit, headers = self._edits.pop(flow.id, None), flow.response.headers
        is_stream = headers.get("content-type", "").startswith("text/event-stream")
        if edit is None or not is_stream or "content-encoding" in headers:
            flow.response.stream = True
            return
        flow.response.stream = StreamTap(edit)
        if self.fault.breaks:
            # A length that is never reached, then the close: to the client the body broke off.
            headers.pop("transfer-encoding", None)
            headers["content-length"] = _FAR_TOO_LONG
            headers["connection"] = "close"

    def error(self, flow: Any) -> None:
        """Forget a request that never got a response."""
        self._edits.pop(flow.id, None)


class StreamTap:
    """An edit of events as mitmproxy wants it: bytes in, pieces out, b"" at the end.

    A piece is never empty, since an empty chunk would end the client's stream.
    """

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self._cutter = EventCutter()

    def __call__(self, data: bytes) -> Sequence[bytes]:
        events = self._cutter.feed(data) if data else [*self._cutter.end(), b""]
        return [piece for event in events for piece in self._edit(event) if piece]


def _chat_body(request: Any) -> Body | None:
    """The body of a chat request; None for anything else."""
    path = str(request.path).partition("?")[0]
    if request.method != "POST" or not path.endswith("/chat/completions"):
        return None
    try:
        body = json.loads(request.content)
    except (TypeError, ValueError):
        return None
    return body if isinstance(body, dict) and isinstance(body.get("messages"), list) else None
