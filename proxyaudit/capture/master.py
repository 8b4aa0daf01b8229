"""What our mitmproxy is made of. Imports mitmproxy, so import this late: it takes a second."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mitmproxy.addons import core, proxyserver, tlsconfig
from mitmproxy.http import HTTPFlow
from mitmproxy.master import Master
from mitmproxy.options import Options

from proxyaudit.capture.mended import PlainNextLayer, mend
from proxyaudit.capture.upstream import Upstream, joined_path


def small_master(
    addons: Sequence[object], upstreams: Mapping[int, Upstream], modes: Sequence[str], silence: int
) -> Master:
    """A mitmproxy with only the addons that a reverse proxy needs, and those given.

    `upstreams` are by listening port; `silence` is in seconds. Certificates of upstreams are
    checked against SSL_CERT_FILE and SSL_CERT_DIR where these are set.
    """
    mend()
    master = Master(Options())
    master.addons.add(
        core.Core(),
        proxyserver.Proxyserver(),
        PlainNextLayer(),
        UpstreamTls(),
        *addons,
        Forward(upstreams),
    )
    master.options.update(
        mode=list(modes),
        connection_strategy="lazy",
        keep_host_header=True,
        tcp_timeout=silence,
        validate_inbound_headers=False,
        ssl_verify_upstream_trusted_ca=os.environ.get("SSL_CERT_FILE") or None,
        ssl_verify_upstream_trusted_confdir=os.environ.get("SSL_CERT_DIR") or None,
    )
    return master


class UpstreamTls(tlsconfig.TlsConfig):
    """TLS towards upstreams only.

    The whole addon makes a certificate authority in the user's home at its start, in order to
    pose as other servers, and answers requests for its revocation list. A tap is plain http and
    has no use for one.
    """

    def running(self) -> None:
        pass

    def configure(self, updated: set[str]) -> None:
        pass

    def request(self, flow: HTTPFlow) -> None:
        pass


class Forward:
    """Aims a request at its upstream: path prefix and `Host`.

    mitmproxy would write `Host` before any addon sees the request. Done here, after all others,
    the recorder has seen what the client sent.
    """

    def __init__(self, upstreams: Mapping[int, Upstream]) -> None:
        self._upstreams = upstreams

    def requestheaders(self, flow: HTTPFlow) -> None:
        upstream = self._upstreams.get(flow.client_conn.sockname[1])
        if upstream is None:
            return
        request = flow.request
        if upstream.path:
            request.path = joined_path(upstream.path, request.path)
        host = upstream.authority
        if request.is_http2 or request.is_http3:
            request.authority = host
        names = {name.lower() for name, _ in request.headers.fields}
        if b"host" in names:  # the value alone: name and place stay the client's
            request.headers.fields = tuple(
                (name, host.encode() if name.lower() == b"host" else value)
                for name, value in request.headers.fields
            )
        elif request.http_version == "HTTP/1.1":
            request.headers["Host"] = host


class ForPort:
    """Lets an addon see the flows of one listener only."""

    HOOKS = ("requestheaders", "request", "responseheaders", "response", "error")

    def __init__(self, port: int, addon: object) -> None:
        self._port = port
        for name in self.HOOKS:
            hook = getattr(addon, name, None)
            if callable(hook):
                setattr(self, name, self._only_mine(hook))

    def _only_mine(self, hook: Callable[[HTTPFlow], Any]) -> Callable[[HTTPFlow], Any]:
        def seen(flow: HTTPFlow) -> Any:
            # What comes back may be a coroutine, which mitmproxy awaits.
            return hook(flow) if flow.client_conn.sockname[1] == self._port else None

        return seen
