"""The recorder: a mitmproxy addon that notes every byte and its time, and edits none.

Rules it keeps (mitmproxy punishes breaking them):

- Every response is streamed through a tap. Without one mitmproxy holds a stream back to its end,
  and a reply that breaks off leaves no body behind.
- The tap never raises (the chunk would vanish, or the client hang) and hands the data on as it is;
  the empty call at the end is answered by no chunk at all.
- State is kept here by flow id, never in the flow. An exchange ends in `response` or in `error`.
- Nothing is written in a hook.
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from proxyaudit.capture.live import Live, was_reset
from proxyaudit.capture.queue import Sink, SinkThread
from proxyaudit.core.exchange import End, Exchange, Tap, WebSocketMessage
from proxyaudit.store.endings import end_of_error

if TYPE_CHECKING:
    from mitmproxy import http

log = logging.getLogger("proxyaudit.recorder")

type _Chunks = bytes | Iterable[bytes]

_TAKEN_OVER = "another addon took over the body of the response: load the recorder after it"
# Close codes that say that all is well, or say nothing (RFC 6455, section 7.4.1).
_CLEAN = (None, 1000, 1001, 1005)


class Recorder:
    """Records flows into a sink.

    The URL of a request is the one that the client asked for: the address of the listener and the
    client's path. Its headers are those that the client sent, if the recorder comes before addons
    that change them. (A mitmproxy of the user's own has rewritten `Host` by then; ours has not.)

    `taps` maps listening ports to taps; a port that is not in it is not recorded, and without the
    mapping everything is recorded at the client tap. With `keep_bodies` the body is put back into
    the flow when the response has ended, for viewers such as mitmweb.

    `on_end` and `on_trouble` are called from the writer's thread, `on_begin` from the event loop:
    it has to be quick.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        taps: Mapping[int, Tap] | None = None,
        keep_bodies: bool = False,
        on_begin: Callable[[Exchange], None] | None = None,
        on_end: Callable[[Exchange], None] | None = None,
        on_trouble: Callable[[Exception], None] | None = None,
    ) -> None:
        self._taps = taps
        self._keep_bodies = keep_bodies
        self._begin = on_begin
        self._live: dict[str, Live] = {}
        self._run = uuid.uuid4().hex[:6]
        self._count = 0
        self._stopping = False
        self.thread = SinkThread(sink, on_trouble=on_trouble, on_written=on_end)

    @property
    def open(self) -> int:
        """How many exchanges are going on."""
        return len(self._live)

    # Hooks. Each is wrapped: whatever goes wrong in here is the recorder's trouble alone.

    def requestheaders(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_requestheaders, flow)

    def request(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_request, flow)

    def responseheaders(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_responseheaders, flow)

    def response(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_response, flow)

    def error(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_error, flow)

    def websocket_message(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_websocket_message, flow)

    def websocket_end(self, flow: "http.HTTPFlow") -> None:
        self._safely(self._on_websocket_end, flow)

    def stopping(self) -> None:
        """From now on a connection that breaks was closed by us, not by its peer."""
        self._stopping = True

    def done(self) -> None:
        """The proxy has stopped."""
        self.close()

    def close(self) -> None:
        """End what is still open as `recorder_stopped`, and write what is queued."""
        for id_ in list(self._live):
            self._finish(id_, "recorder_stopped", None)
        self.thread.close()

    def _safely(self, hook: Callable[["http.HTTPFlow"], None], flow: "http.HTTPFlow") -> None:
        try:
            hook(flow)
        except Exception:
            log.exception("the recorder lost an event; the traffic itself was not touched")

    def _on_requestheaders(self, flow: "http.HTTPFlow") -> None:
        tap = self._tap(flow)
        if tap is None or flow.is_replay:
            return
        self._count += 1
        self._live[flow.id] = Live.begun(f"{self._run}-{self._count}", tap, flow)

    def _tap(self, flow: "http.HTTPFlow") -> Tap | None:
        if self._taps is None:
            return "client"
        return self._taps.get(flow.client_conn.sockname[1])

    def _on_request(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None:
            return
        live.asked(flow)
        self._queue_request(live)
        if self._begin:
            self._begin(live.opening())

    def _on_responseheaders(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.response is None:
            return
        live.answered(flow.response)
        # A 101 has no body: the websocket's messages come through hooks of their own.
        if flow.response.status_code != 101:
            other = flow.response.stream
            tap = partial(_tap_before, live, other) if callable(other) else partial(_tap, live)
            flow.response.stream = live.ours = tap

    def _on_response(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.response is None:
            return
        if live.response is None:  # made up by another addon: no headers came from upstream
            live.answered(flow.response)
        if flow.websocket is not None:
            live.websocket = True
            return
        kept = flow.response.raw_content
        if kept and not live.pieces:
            live.piece(kept)
        taken = live.ours is not None and flow.response.stream is not live.ours
        if taken and not live.pieces:
            self._finish(flow.id, "error", _TAKEN_OVER)
            return
        self._put_back(flow, live)
        self._finish(flow.id, "complete", None)

    def _on_error(self, flow: "http.HTTPFlow") -> None:
        message = flow.error.msg if flow.error else "unknown error"
        live = self._live.get(flow.id)
        if live is None:
            return
        self._put_back(flow, live)
        self._finish(flow.id, _end(flow, live, message), message)

    def _on_websocket_message(self, flow: "http.HTTPFlow") -> None:
        live = self._live.get(flow.id)
        if live is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        data = message.text if message.is_text else message.content
        sender: Literal["client", "server"] = "client" if message.from_client else "server"
        live.messages.append(WebSocketMessage(live.now(), sender, data))

    def _on_websocket_end(self, flow: "http.HTTPFlow") -> None:
        code = flow.websocket.close_code if flow.websocket else None
        if code in _CLEAN:
            self._finish(flow.id, "complete", None)
            return
        by_client = flow.websocket is not None and flow.websocket.closed_by_client
        self._finish(flow.id, "client_abort" if by_client else "upstream_eof", f"close code {code}")

    def _put_back(self, flow: "http.HTTPFlow", live: Live) -> None:
        if self._keep_bodies and live.pieces and flow.response and not flow.response.raw_content:
            flow.response.raw_content = live.body()

    def _queue_request(self, live: Live) -> None:
        if not live.queued:
            live.queued = True
            self.thread.put("request", live.opening)

    def _finish(self, flow_id: str, end: End, error: str | None) -> None:
        live = self._live.pop(flow_id, None)
        if live is None:
            return
        if self._stopping and end in ("client_abort", "upstream_eof", "upstream_reset"):
            end = "recorder_stopped"
        self._queue_request(live)  # a request that broke off has not got its line yet
        self.thread.put("response", partial(live.ended, live.now(), end, error))


def _end(flow: "http.HTTPFlow", live: Live, message: str) -> End:
    """How a flow that went wrong has ended. mitmproxy's words do not say which side broke off."""
    end = end_of_error(message)
    if end != "upstream_eof":
        return end
    if not live.queued and not flow.request.stream:  # the upstream is asked with whole requests
        return "client_abort"
    return "upstream_reset" if was_reset(flow) else "upstream_eof"


def _tap(live: Live, data: bytes) -> _Chunks:
    """Note a chunk and hand it on untouched. Never raises."""
    if not data:
        return ()
    try:
        live.piece(data)
    except Exception:
        log.exception("the recorder lost a chunk; the client did not")
    return data


def _tap_before(live: Live, other: Callable[[bytes], _Chunks], data: bytes) -> _Chunks:
    """Note what came from upstream, then let another addon's stream function have it."""
    _tap(live, data)
    return other(data)
