"""What mitmproxy's HTTP/1 leaves out and a client would wait for in vain. Import this late.

- Informational answers (100, 102, 103) count as the answer there, and the real one is thrown away.
  Here they are handed on and the answer is still awaited.
- Trailers after a chunked body raise inside mitmproxy, and the body never ends. Here they are read
  and left out, as a proxy may do (RFC 9110, section 6.5.1); the body ends.
- TLS spoken to a plain tap waits for a handshake. Here it is answered in plain HTTP, which every
  TLS client reports at once ("wrong version number"), and said in the log.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

import h11
from h11._readers import ChunkedReader
from mitmproxy.addons import next_layer
from mitmproxy.connection import ConnectionState
from mitmproxy.net.tls import starts_like_tls_record
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http
from mitmproxy.proxy.layers.http import _http1

log = logging.getLogger("proxyaudit.recorder")

_INFORMATIONAL = re.compile(rb"HTTP/1\.\d 1(?!01)\d\d[ \r\n]")
_HEAD = re.compile(rb".*?\r?\n\r?\n", re.DOTALL)
_IS_PLAIN = b"This is http, not https.\n"
_REFUSAL = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_IS_PLAIN), _IS_PLAIN)
)


def mend() -> None:
    """Put the classes below in the place of mitmproxy's own; again does nothing."""
    for module, name, ours in (
        (http, "Http1Client", PatientClient),
        (_http1, "ChunkedReader", WithoutTrailers),
    ):
        assert hasattr(module, name), f"mitmproxy has moved {name}"
        setattr(module, name, ours)


class PatientClient(_http1.Http1Client):
    """The side towards the upstream: waits for the answer behind informational ones."""

    def read_headers(self, event: events.ConnectionEvent) -> layer.CommandGenerator[None]:
        if isinstance(event, events.DataReceived) and self.request:
            for head in self._informational():
                client = self.context.client
                # HTTP/1.0 and HTTP/2 clients would not understand this as it is.
                if self.request.is_http11 and client.state & ConnectionState.CAN_WRITE:
                    yield commands.SendData(client, head)
            if not self.buf:
                return
        yield from super().read_headers(event)

    def _informational(self) -> Iterator[bytes]:
        while _INFORMATIONAL.match(bytes(self.buf)):
            head = _HEAD.match(bytes(self.buf))
            if head is None:  # the rest of it is still to come
                return
            self.buf.maybe_extract_at_most(head.end())
            yield head[0]


class WithoutTrailers(ChunkedReader):
    """Reads chunked bodies; their trailers are read and forgotten."""

    def __call__(self, buf: Any) -> Any:
        event = super().__call__(buf)
        if isinstance(event, h11.EndOfMessage) and event.headers:
            return h11.EndOfMessage()
        return event


class PlainNextLayer(next_layer.NextLayer):
    """Decides what a connection speaks: TLS it is not, for our taps have no certificates."""

    def __init__(self) -> None:
        super().__init__()
        self._said = False

    def next_layer(self, nextlayer: layer.NextLayer) -> None:
        if nextlayer.layer is None and starts_like_tls_record(nextlayer.data_client()):
            nextlayer.layer = TlsRefused(nextlayer.context)
            self._say(nextlayer.context.client.sockname[1])
        super().next_layer(nextlayer)

    def _say(self, port: int) -> None:
        if not self._said:
            self._said = True
            log.warning(
                "a client speaks TLS to port %d: its base URL has to begin with http://", port
            )


class TlsRefused(layer.Layer):
    """Answers in plain HTTP and hangs up."""

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, events.DataReceived):
            yield commands.SendData(self.context.client, _REFUSAL)
        if isinstance(event, events.DataReceived | events.ConnectionClosed):
            yield commands.CloseConnection(self.context.client)
