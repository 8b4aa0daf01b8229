"""Counters of a running recorder for Prometheus.

Labels take values of our own only (taps, ends, rules, suspects): what traffic says can neither
break the format nor make ever more series.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.turn import Usage
from proxyaudit.engine.watch import Alert, Seen
from proxyaudit.report.live_status import first_byte

if TYPE_CHECKING:
    from threading import Thread
    from wsgiref.simple_server import WSGIServer

# Seconds. A prefill of a long history takes minutes.
_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)


class Metrics:
    """Serves `/metrics` from a thread of its own until `close`. Port 0 takes a free one (`port`).

    `gauges` are looked up at each scrape: name → (help, value). Raises UserError if the address
    cannot be used.
    """

    def __init__(
        self, host: str, port: int, gauges: dict[str, tuple[str, Callable[[], float]]]
    ) -> None:
        from prometheus_client import (
            CollectorRegistry,
            Counter,
            Gauge,
            Histogram,
            disable_created_metrics,
            start_http_server,
        )

        disable_created_metrics()  # type: ignore[no-untyped-call]
        held = CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"proxyaudit_{name}", about, labels, registry=held)

        self._exchanges = counter("exchanges", "Exchanges that ended.", "tap", "end")
        self._turns = counter("turns", "Requests to a language model that were read.", "tap")
        self._bytes = counter("body_bytes", "Bytes of bodies.", "tap", "direction")
        self._tokens = counter("tokens", "Tokens as replies count them.", "kind")
        self._alarms = counter("alarms", "Findings, each told once.", "rule", "severity", "suspect")
        self._first_byte = Histogram(
            "proxyaudit_first_byte_seconds",
            "Seconds from a request to a model to the first byte of its reply.",
            ("tap",),
            buckets=_BUCKETS,
            registry=held,
        )
        for name, (about, value) in gauges.items():
            Gauge(f"proxyaudit_{name}", about, registry=held).set_function(value)
        try:
            started = start_http_server(port, host, held)
        except OSError as error:
            raise UserError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}",
                "choose another address for --metrics",
            ) from None
        self._server: WSGIServer = started[0]
        self._thread: Thread = started[1]
        self.port: int = self._server.server_port

    def alerted(self, alert: Alert) -> None:
        if not alert.again:
            finding = alert.finding
            self._alarms.labels(finding.rule, finding.severity, finding.suspect).inc()

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        tap, response = exchange.tap, exchange.response
        self._exchanges.labels(tap, exchange.end).inc()
        self._bytes.labels(tap, "request").inc(len(exchange.request.body))
        self._bytes.labels(tap, "response").inc(len(response.body) if response else 0)

        for seen in turns:
            self._turns.labels(tap).inc()
            if (at := first_byte(seen.turn.exchange)) is not None:
                self._first_byte.labels(tap).observe(max(0.0, at))
            if seen.conversation is not None and seen.turn.reply:
                self._count(seen.turn.reply.usage or Usage())

    def tick(self) -> None: ...

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def _count(self, usage: Usage) -> None:
        for kind in ("prompt", "completion", "cached"):
            if (number := getattr(usage, kind)) is not None and number > 0:
                self._tokens.labels(kind).inc(number)
