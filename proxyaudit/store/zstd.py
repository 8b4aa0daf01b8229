"""Zstandard streams: how segments are compressed, and how torn ones are still read."""

import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd

MAGIC = b"\x28\xb5\x2f\xfd"

# The window must reach the last body of every session that is interleaved in a segment: 64 MiB is
# sixty bodies of 1 MB. Long-distance matching finds them there (without it: 2 times smaller instead
# of 12, measured on 48 sessions). Costs up to 100 MB of memory in a segment that grew so large; no
# more than 27, which `zstdcat` reads without an option.
WINDOW_LOG = 26
_LEVEL = 3

_PIECE = 1 << 20
_REPEATED = 1  # a block of one byte, many times
_SKIPPABLE = b"\x2a\x4d\x18"


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

    Never raises for bad data: it yields all that can be read, and adds to `faults` what cannot. A
    frame that is not closed but ends with a whole block is no fault: its writer is still running,
    or was killed without any loss.
    """
    try:
        while magic := file.read(len(MAGIC)):
            if magic == MAGIC:
                yield from _frame(file)
            elif magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
                _exactly(file, int.from_bytes(_exactly(file, 4), "little"))
            else:
                raise zstd.ZstdError("no frame begins here")
    except EOFError:
        faults.append("the zstd data is torn at its end")
    except zstd.ZstdError as error:
        faults.append(f"damaged zstd data: {error}")


def _frame(file: BinaryIO) -> Iterator[bytes]:
    """The plain bytes of one frame, fed block by block (RFC 8878, section 3.1.1).

    So a damaged block costs nothing that stands before it, and a torn one is told from an end.
    """
    limit: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 31}
    stream = zstd.ZstdDecompressor(options=limit)
    descriptor = _exactly(file, 1)
    rest = _exactly(file, _rest_of_header(descriptor[0]))
    yield from _drain(stream, MAGIC + descriptor + rest)
    last = 0
    while not last:
        head = file.read(3)
        if not head:
            return
        word = int.from_bytes(head + _exactly(file, 3 - len(head)), "little")
        last, kind, size = word & 1, (word >> 1) & 3, word >> 3
        yield from _drain(stream, head + _exactly(file, 1 if kind == _REPEATED else size))
    has_checksum = descriptor[0] & 4
    if has_checksum:
        yield from _drain(stream, _exactly(file, 4))


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _rest_of_header(descriptor: int) -> int:
    """Bytes of a frame header after its descriptor (section 3.1.1.1)."""
    single = (descriptor >> 5) & 1
    size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    return (1 - single) + dictionary + size


def _drain(stream: zstd.ZstdDecompressor, data: bytes) -> Iterator[bytes]:
    piece = stream.decompress(data, max_length=_PIECE)
    while piece:
        yield piece
        if stream.eof or stream.needs_input:
            return
        piece = stream.decompress(b"", max_length=_PIECE)
