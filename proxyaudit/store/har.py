"""Import of HAR files: entry by entry, so that a large or a torn one can be read, too."""

import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from proxyaudit.core.exchange import Exchange, Tap
from proxyaudit.core.recording import Flaw
from proxyaudit.store.elements import array_objects
from proxyaudit.store.har_entry import Entries
from proxyaudit.store.loose import parsed
from proxyaudit.store.scan import plain

_PIECE = 1 << 20
# gzip, and zlib as mitmproxy's .zhar
PACKED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_EITHER = 32 + zlib.MAX_WBITS


def iter_har(path: Path, flaws: list[Flaw], tap: Tap = "client") -> Iterator[Exchange]:
    """The exchanges of a HAR file in its order, ids e1, e2, … ; needs the memory of one entry.

    What cannot be read is added to `flaws`, and what is odd in many entries once, with its number.
    A HAR file has no chunk times (`timed` is False).
    """
    reader, faults = Entries(tap), list[str]()
    with path.open("rb") as file:
        found = array_objects(unpacked(file, faults), ("log", "entries"), faults)
        for number, raw in enumerate(found, 1):
            try:
                yield reader.exchange(parsed(raw), f"e{number}")
            except ValueError as error:
                flaws.append(Flaw(f"{path.name}:entry {number}", f"not read: {error}"))
    flaws += [Flaw(path.name, fault) for fault in faults]
    flaws += counted(path.name, reader.notes, ("entry", "entries"))


def counted(name: str, notes: Counter[str], noun: tuple[str, str]) -> Iterator[Flaw]:
    """One flaw for each kind of note, with how often it was made."""
    for sentence, times in notes.items():
        yield Flaw(name, sentence.format(f"{times:,} {noun[times != 1]}"))


def unpacked(file: BinaryIO, faults: list[str]) -> Iterator[bytes]:
    """The plain bytes of a file in pieces: as they are, or out of zstd, gzip or zlib."""
    head = file.read(2)
    file.seek(0)
    if not head.startswith(PACKED):
        yield from plain(file, faults)
        return
    stream = zlib.decompressobj(_EITHER)
    try:
        while packed := stream.unconsumed_tail or file.read(_PIECE):
            yield stream.decompress(packed, _PIECE)
        yield stream.flush()
    except zlib.error as error:
        faults.append(f"damaged, and what follows is lost: {error}")
        return
    if not stream.eof:
        faults.append("the compressed data is torn at its end")
