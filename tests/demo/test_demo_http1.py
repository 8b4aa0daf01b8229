"""The small HTTP pieces of the demo."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.demo.chat import pieces
from proxyaudit.demo.http1 import ChunkedDecoder, chunk, read_body, read_head

_BODIES = st.lists(st.binary(min_size=1, max_size=40), max_size=6)


@given(_BODIES, st.integers(1, 17))
def test_chunks_come_out_whole_however_the_wire_cuts_them(bodies: list[bytes], step: int) -> None:
    wire = b"".join(map(chunk, [*bodies, b""]))
    decoder = ChunkedDecoder()
    out = b"".join(decoder.feed(wire[i : i + step]) for i in range(0, len(wire), step))
    assert out == b"".join(bodies)
    assert decoder.done


@given(_BODIES)
def test_a_chunked_body_without_its_last_chunk_is_not_done(bodies: list[bytes]) -> None:
    decoder = ChunkedDecoder()
    decoder.feed(b"".join(map(chunk, bodies)))
    assert not decoder.done


@given(st.text(), st.integers(1, 12))
def test_a_text_is_cut_into_few_pieces_that_add_up(text: str, most: int) -> None:
    cut = pieces(text, most)
    assert "".join(cut) == text
    assert len(cut) <= most
    assert all(cut)


def test_a_chunked_request_body_is_read_whole_and_a_cut_one_is_refused() -> None:
    async def read(wire: bytes) -> bytes:
        reader = asyncio.StreamReader()
        reader.feed_data(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + wire)
        reader.feed_eof()
        head = await read_head(reader)
        assert head
        return await read_body(reader, head)

    assert asyncio.run(read(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")) == b"abcde"
    with pytest.raises(asyncio.IncompleteReadError):
        asyncio.run(read(b"3\r\nabc\r\n2\r\nd"))
