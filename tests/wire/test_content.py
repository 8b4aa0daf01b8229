"""Content encodings: what comes back whole, torn, mislabelled or far too large."""

import gzip
import sys
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Chunk
from proxyaudit.wire.content import decoded

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def named(encoding: str) -> tuple[tuple[str, str], ...]:
    return (("Content-Type", "application/json"), ("Content-Encoding", encoding))


def chunks_of(body: bytes, size: int) -> list[Chunk]:
    starts = range(0, len(body), size)
    return [Chunk(float(i), min(size, len(body) - at)) for i, at in enumerate(starts)]


@pytest.mark.parametrize("encoding", PACKERS)
@given(data=st.binary(max_size=300), size=st.integers(1, 40))
def test_any_body_comes_back_whatever_its_chunks(encoding: str, data: bytes, size: int) -> None:
    body = PACKERS[encoding](data)
    read = decoded(named(encoding), body, chunks_of(body, size))
    assert (read.data, read.fault) == (data, None)
    assert sum(chunk.size for chunk in read.chunks) == len(data)
    assert len(read.chunks) == len(chunks_of(body, size))


def test_deflate_without_its_header_is_read() -> None:
    data = b'{"answer": "forty two"}' * 3
    assert decoded(named("deflate"), raw_deflate(data)).data == data


def test_two_encodings_are_undone_in_the_order_of_the_wire() -> None:
    body = brotli.compress(gzip.compress(b"deep"))
    assert decoded(named("gzip, br"), body).data == b"deep"


def test_two_gzip_members_are_one_body() -> None:
    body = gzip.compress(b"one ") + gzip.compress(b"two")
    for size in (1, 3, len(body)):
        read = decoded(named("gzip"), body, chunks_of(body, size))
        assert (read.data, read.fault) == (b"one two", None)


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_torn_body_gives_what_could_be_decoded(encoding: str) -> None:
    data = bytes(range(256)) * 40 + b"the end"
    body = PACKERS[encoding](data)
    read = decoded(named(encoding), body[:-3])
    assert data.startswith(read.data)
    assert read.fault
    assert "torn" in read.fault


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_plain_body_under_an_encoded_header_stays_raw(encoding: str) -> None:
    body = b'{"choices": [{"message": {"content": "plain after all"}}]}'
    read = decoded(named(encoding), body, chunks_of(body, 10))
    assert read.data == body
    assert read.fault
    assert "is not" in read.fault
    assert list(read.chunks) == chunks_of(body, 10)


def test_gzip_without_a_header_is_told_and_left_alone() -> None:
    body = gzip.compress(b"{}")
    read = decoded((("content-type", "application/json"),), body)
    assert read.data == body
    assert read.fault
    assert "no content-encoding" in read.fault
    assert decoded((("content-type", "application/gzip"),), body).fault is None


def test_an_unknown_encoding_is_told() -> None:
    assert decoded(named("rot13"), b"uryyb").fault == "content-encoding rot13 is not known"


def test_bytes_after_the_end_are_told_and_the_data_kept() -> None:
    read = decoded(named("gzip"), gzip.compress(b"whole") + b"tail")
    assert read.data == b"whole"
    assert read.fault == "bytes follow the end of the gzip data"


@pytest.mark.parametrize("encoding", PACKERS)
def test_a_bomb_stops_at_the_limit(encoding: str) -> None:
    body = PACKERS[encoding](b"\0" * 5_000_000)
    read = decoded(named(encoding), body, limit=2_500_000)
    assert len(read.data) == 2_500_000
    assert read.fault
    assert "limit" in read.fault


def test_decoded_bytes_keep_the_time_of_the_chunk_that_held_them() -> None:
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(b"data: 1\n\n") + packer.flush(zlib.Z_SYNC_FLUSH)
    second = packer.compress(b"data: 22\n\n") + packer.flush()
    chunks = [Chunk(0.5, len(first)), Chunk(2.0, len(second))]
    read = decoded(named("gzip"), first + second, chunks)
    assert read.chunks == (Chunk(0.5, 9), Chunk(2.0, 10))


@given(data=st.binary(max_size=200), encoding=st.sampled_from(sorted(PACKERS)))
def test_no_bytes_raise(data: bytes, encoding: str) -> None:
    read = decoded(named(encoding), data)
    assert read.fault or not data or read.data != data


def test_an_empty_body_has_no_fault() -> None:
    assert decoded(named("gzip"), b"").fault is None
