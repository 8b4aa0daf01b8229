"""Read the lines of one file, plain or compressed, and put the two phases of exchanges together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Assume, Flaw
from proxyaudit.store.lines import Begun, Ended, Opening, Whole, WrongFormat, from_line
from proxyaudit.store.zstd import MAGIC, pieces

_BOM = b"\xef\xbb\xbf"
_PIECE = 1 << 20


@dataclass(slots=True)
class Scan:
    """What one reading of a recording has come to know beside its exchanges.

    Memory: the requests that wait for their response, and all ids.
    """

    assume: Assume = field(default_factory=Assume)
    flaws: list[Flaw] = field(default_factory=list)
    about: dict[str, JSON] = field(default_factory=dict)
    _waiting: dict[str, Exchange] = field(default_factory=dict)
    _times_seen: dict[str, int] = field(default_factory=dict)

    def exchanges(self, paths: Iterable[Path]) -> Iterator[Exchange]:
        """Exchanges as their ends are read; those without an end come last, `recorder_stopped`."""
        for path in paths:
            with path.open("rb") as file:
                yield from self._lines(file, path.name)
        yield from self._waiting.values()
        self._waiting.clear()

    def unique(self, found: Iterable[Exchange], name: str) -> Iterator[Exchange]:
        """Exchanges of a file of other programs, none with an id that was used before."""
        for exchange in found:
            yield self._unique(exchange, name)

    def _lines(self, file: BinaryIO, name: str) -> Iterator[Exchange]:
        number, faults = 0, list[str]()
        for number, (raw, whole) in enumerate(split_lines(plain(file, faults)), 1):
            try:
                yield from self._line(raw, f"{name}:{number}")
            except WrongFormat as error:
                if number == 1:
                    hint = "a newer proxyaudit may have written it: update proxyaudit"
                    raise UserError(f"{name}:1 {error}", hint) from None
                self._flaw(name, number, str(error))
            except ValueError as error:
                self._flaw(name, number, str(error) if whole else f"torn at its end ({error})")
        for fault in faults:
            self._flaw(name, number, f"{fault}; what follows is lost")

    def _flaw(self, name: str, number: int, message: str) -> None:
        self.flaws.append(Flaw(f"{name}:{number}", message))

    def _line(self, raw: bytes, where: str) -> Iterator[Exchange]:
        match from_line(raw) if raw.strip() else None:
            case None:
                return
            case Opening(assume):
                self.assume = assume
            case Whole(exchange):
                yield self._unique(exchange, where)
            case Begun(exchange):
                if exchange.id in self._waiting:
                    yield self._waiting.pop(exchange.id)
                self._waiting[exchange.id] = self._unique(exchange, where)
            case Ended() as end:
                begun = self._waiting.pop(end.id, None)
                if begun is None:
                    raise ValueError(f"the end of exchange {end.id!r}, whose request is missing")
                yield _joined(begun, end)

    def _unique(self, exchange: Exchange, where: str) -> Exchange:
        """The exchange, under another id if its own was used before: places must be unique."""
        count = self._times_seen.get(exchange.id, 0) + 1
        self._times_seen[exchange.id] = count
        if count == 1:
            return exchange
        fresh = f"{exchange.id}~{count}"
        self.flaws.append(Flaw(where, f"exchange id {exchange.id!r} again; read as {fresh!r}"))
        return self._unique(replace(exchange, id=fresh), where)


def _joined(begun: Exchange, end: Ended) -> Exchange:
    return replace(
        begun,
        response=end.response,
        end=end.end,
        error=end.error,
        websocket=end.websocket,
        timed=end.timed,
    )


def plain(file: BinaryIO, faults: list[str]) -> Iterator[bytes]:
    """The plain bytes of a file in pieces, decompressed if it is zstd; see `zstd.pieces`."""
    head = file.read(len(MAGIC))
    file.seek(0)
    if head == MAGIC:
        yield from pieces(file, faults)
        return
    if head.startswith(_BOM):
        file.seek(len(_BOM))
    while piece := file.read(_PIECE):
        yield piece


def split_lines(data: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Lines without their newline, and whether they had one."""
    parts: list[bytes] = []
    for piece in data:
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            parts.append(piece[start:end])
            yield b"".join(parts), True
            parts, start = [], end + 1
        if start < len(piece):
            parts.append(piece[start:])
    if parts:
        yield b"".join(parts), False
