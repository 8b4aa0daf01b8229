"""Append exchanges to a recording: crash-safe, compressed, secrets replaced."""

import errno
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic_core import from_json, to_json

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.recording import Assume, Flaw
from proxyaudit.store.lines import request_line, response_line, to_line
from proxyaudit.store.schema import RECORDING
from proxyaudit.store.segments import META, segment_number, segments
from proxyaudit.store.zstd import END_OF_FRAME, compressor
from proxyaudit.wire.redact import Redactor

SEGMENT_BYTES = 64 << 20
_SALT_BYTES = 16
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class RecordingWriter:
    """Writes one recording. Not to be shared by threads.

    `segment_bytes` is the compressed size at which a new segment is begun. `created` is in seconds
    since the epoch; `about` is what the recorder wants to be known later (taps, URLs, version).
    A folder that holds a recording is continued in a new segment; its meta.json stays as it is.

    Raises UserError for a folder that is in use for something else, and OSError where the disk
    fails: the line in hand is then lost as a whole, and the next one is tried in a new segment.
    """

    def __init__(
        self,
        folder: Path,
        *,
        assume: Assume | None = None,
        about: dict[str, JSON] | None = None,
        created: float | None = None,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        self.folder = folder
        self._limit = segment_bytes
        self._segment: _Segment | None = None
        fresh: JSONObject = {
            "format": RECORDING,
            "created": created,
            "salt": secrets.token_hex(_SALT_BYTES),
            "about": dict(about or {}),
            "assume": (assume or Assume()).model_dump(exclude_none=True),
        }
        try:
            salt = _begin(folder, fresh)
        except OSError as error:
            raise UserError(
                f"cannot record to {folder}: {error.strerror}", "name a folder that can be written"
            ) from error
        self._redactor = Redactor(bytes.fromhex(salt))

    def request(self, exchange: Exchange) -> None:
        """Write that the request is complete; its response comes later, under the same id."""
        self._append(request_line(self._redacted(exchange)))

    def response(self, exchange: Exchange) -> None:
        """Write how an exchange ended, whose request has been written."""
        self._append(response_line(self._redacted(exchange)))

    def whole(self, exchange: Exchange) -> None:
        """Write an exchange that has ended in one line (import, replay)."""
        self._append(to_line(self._redacted(exchange)))

    def flaws(self, flaws: Sequence[Flaw]) -> None:
        """Keep what could not be read of the files that the exchanges came from."""
        meta = self.folder / META
        told = [{"where": flaw.where, "message": flaw.message} for flaw in flaws]
        fresh = meta.with_suffix(".new")
        with open(os.open(fresh, _FRESH, 0o600), "wb") as file:  # noqa: PTH123
            file.write(to_json({**from_json(meta.read_bytes()), "flaws": told}, indent=2) + b"\n")
        fresh.replace(meta)

    def close(self) -> None:
        """Close the segment. Once is enough, more do no harm."""
        segment, self._segment = self._segment, None
        if segment is not None:
            segment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, line: bytes) -> None:
        if self._segment is not None and self._segment.size >= self._limit:
            self.close()
        if self._segment is None:
            self._segment = _Segment.new(self.folder)
        try:
            self._segment.append(line)
        except OSError:
            # The compressor has seen a line that the file has not: nothing can follow in it.
            segment, self._segment = self._segment, None
            segment.abandon()
            raise

    def _redacted(self, exchange: Exchange) -> Exchange:
        request, response = exchange.request, exchange.response
        headers = self._redactor.headers
        return replace(
            exchange,
            request=replace(
                request,
                url=self._redactor.url(request.url),
                headers=headers(request.headers),
            ),
            response=response and replace(response, headers=headers(response.headers)),
        )


@dataclass(slots=True)
class _Segment:
    """An open segment file: its descriptor, its compressor, and the size of its whole lines."""

    path: Path
    fd: int
    compress: Callable[[bytes], bytes]
    size: int = 0

    @classmethod
    def new(cls, folder: Path) -> Self:
        known = segments(folder)
        number = (segment_number(known[-1]) or 0) if known else 0
        while True:
            number += 1
            path = folder / f"exchanges-{number:04}.jsonl.zst"
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                return cls(path, os.open(path, flags, 0o600), compressor())
            except FileExistsError:
                continue

    def append(self, line: bytes) -> None:
        if os.fstat(self.fd).st_nlink == 0:
            # Writing would succeed, into a file that nobody can ever open again.
            raise FileNotFoundError(errno.ENOENT, "the recording was deleted while in use")
        self._write(self.compress(line))

    def close(self) -> None:
        try:
            self._write(END_OF_FRAME)
        finally:
            os.close(self.fd)

    def abandon(self) -> None:
        """Cut off what was half written, so that all lines before stay readable."""
        try:
            os.ftruncate(self.fd, self.size)
        except OSError:
            os.close(self.fd)
            return
        with suppress(OSError):
            if not self.size:
                self.path.unlink(missing_ok=True)
            self.close()

    def _write(self, data: bytes) -> None:
        done = os.write(self.fd, data)
        while done < len(data):
            done += os.write(self.fd, data[done:])
        self.size += done


def _begin(folder: Path, fresh: JSONObject) -> str:
    """Make the folder and its meta.json, or take up the one that is there; returns the salt."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise UserError(f"{folder} is a file", "name a folder for the recording") from None
    meta = folder / META
    if meta.exists():
        return _salt_of(meta)
    if any(folder.iterdir()):
        raise UserError(
            f"{folder} holds other files and is no recording", "name a folder that is new or empty"
        )
    with open(os.open(meta, _FRESH, 0o600), "wb") as file:  # noqa: PTH123
        file.write(to_json(fresh, indent=2) + b"\n")
    return str(fresh["salt"])


def _salt_of(meta: Path) -> str:
    try:
        known = from_json(meta.read_bytes())
        if known["format"] == RECORDING and bytes.fromhex(known["salt"]):
            return str(known["salt"])
    except (ValueError, KeyError, TypeError):
        pass
    raise UserError(f"{meta} is not the start of a {RECORDING}", "name another folder to record to")
