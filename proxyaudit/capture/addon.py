"""The recorder as an addon for people who run mitmweb or mitmdump themselves."""

import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proxyaudit.capture.host import SILENCE
from proxyaudit.capture.recorder import Recorder
from proxyaudit.core.exchange import Exchange
from proxyaudit.store.write import RecordingWriter

log = logging.getLogger("proxyaudit.recorder")


class _Opened:
    """A recording that is opened by its first line: no traffic, no folder."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._writer: RecordingWriter | None = None

    def request(self, exchange: Exchange) -> None:
        self._open().request(exchange)

    def response(self, exchange: Exchange) -> None:
        self._open().response(exchange)

    def close(self) -> None:
        if self._writer:
            self._writer.close()

    def _open(self) -> RecordingWriter:
        if self._writer is None:
            stamp = datetime.now(UTC).astimezone().strftime("%Y%m%d-%H%M%S")
            folder = self.folder or Path("recordings") / stamp
            self._writer = RecordingWriter(folder, created=time.time())
            log.warning("recording to %s", folder)
        return self._writer


class StandaloneRecorder(Recorder):
    """The recorder with an option `recording` (a folder) and a recording of its own.

    It sets `connection_strategy` to lazy (else a request to a dead upstream is never seen) and
    raises `tcp_timeout` (a prefill may keep silent for long). The bodies are put back into the
    flows, so that viewers show them.
    """

    def __init__(self) -> None:
        self._opened = _Opened()
        super().__init__(self._opened, keep_bodies=True, on_trouble=_trouble)

    def load(self, loader: Any) -> None:
        loader.add_option("recording", str, "", "Folder to record to.")

    def running(self) -> None:
        from mitmproxy import ctx

        patience = max(SILENCE, ctx.options.tcp_timeout)
        ctx.options.update(connection_strategy="lazy", tcp_timeout=patience)
        if ctx.options.recording:
            self._opened.folder = Path(ctx.options.recording)

    def done(self) -> None:
        self.close()
        self._opened.close()


def _trouble(error: Exception) -> None:
    log.warning("cannot write the recording, what comes now is lost: %s", error)


addons = [StandaloneRecorder()]
