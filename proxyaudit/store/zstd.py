"""Zstandard streams: how segments are compressed, and how torn ones are still read."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"\x28\xb5\x2f\xfd"

# The window must reach the last body of every session that is interleaved in a segment: 64 MiB is
# sixty bodies of 1 MB. Long-distance matching finds them there (without it: 2 times smaller instead
# of 12, measured on 48 sessions). Costs up to 100 MB of memory in a segment that grew so large; no
# more than 27, which `zstdcat` reads without an option.
WINDOW_LOG = 26
_LEVEL = 3

_PIECE = 1 << 20
_READ = 1 << 18


def compressor() -> Callable[[bytes], bytes]:
    """A function that turns the next line of a new stream into bytes that end at a block's end.

    The bytes returned so far can always be read back in full, whatever happens to the writer.
    """
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {
        parameter.compression_level: _LEVEL,
        parameter.window_log: WINDOW_LOG,
        parameter.enable_long_distance_matching: 1,
    }
    stream = zstd.ZstdCompressor(options=options)
    return lambda line: stream.compress(line, mode=zstd.ZstdCompressor.FLUSH_BLOCK)


# An empty last block: it closes a stream that was flushed, as `ZstdCompressor.flush` would.
END_OF_FRAME = b"\x01\x00\x00"


def pieces(file: BinaryIO, faults: list[str]) -> Iterator[bytes]:
    """The plain bytes of a file of zstd frames, in pieces of at most 1 MiB.

    Never raises for bad data: it yields what can be read, and adds to `faults` what cannot. A last
    frame that is not closed but ends with a whole block is no fault: its writer is still running,
    or was killed without any loss.
    """
    limit: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 31}
    rest, start = file.read(_READ), 0
    while rest:
        stream = zstd.ZstdDecompressor(options=limit)
        fed = start
        try:
            while rest and not stream.eof:
                fed += len(rest)
                yield from _drain(stream, rest)
                rest = file.read(_READ) if not stream.eof else b""
        except zstd.ZstdError as error:
            faults.append(f"damaged zstd data: {error}")
            return
        if not stream.eof:
            if _cut(file, start):
                faults.append("the zstd data is torn at its end")
            return
        start = fed - len(stream.unused_data)
        rest = stream.unused_data or file.read(_READ)


def _drain(stream: zstd.ZstdDecompressor, data: bytes) -> Iterator[bytes]:
    piece = stream.decompress(data, max_length=_PIECE)
    while piece:
        yield piece
        if stream.eof or stream.needs_input:
            return
        piece = stream.decompress(b"", max_length=_PIECE)


def _cut(file: BinaryIO, start: int) -> bool:
    """Whether the unclosed frame that starts at `start` ends inside a header or a block."""
    size = file.seek(0, os.SEEK_END)
    file.seek(start + len(MAGIC))
    descriptor = file.read(1)
    if not descriptor:
        return True
    place = start + len(MAGIC) + 1 + _rest_of_header(descriptor[0])
    while place < size:
        file.seek(place)
        head = file.read(3)
        if len(head) < 3:
            return True
        word = int.from_bytes(head, "little")
        kind, length = (word >> 1) & 3, word >> 3
        place += 3 + (1 if kind == 1 else length)
    return place > size


def _rest_of_header(descriptor: int) -> int:
    """Bytes of a frame header after its descriptor (RFC 8878, section 3.1.1.1)."""
    single = (descriptor >> 5) & 1
    size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    return (1 - single) + dictionary + size
