"""HTTP on the wire, read without being tidied up, however it is cut."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.selftest.message import Message, Reader
from proxyaudit.selftest.old import Downgrade

CHUNKED = (
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    b"HTTP/1.1 200 Fine\r\nX-A:1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nabc\r\nA;ext=1\r\n0\r\n\r\n\xff\x00\r\n\r\r\n0\r\nX-Sum: 9\r\n\r\nnext"
)


def read(raw: bytes, *, cuts: tuple[int, ...] = (), **options: Any) -> Reader:
    reader = Reader(**{"is_response": True, **options})
    marks = [0, *sorted(cuts), len(raw)]
    for start, end in pairwise(marks):
        reader.feed(raw[start:end])
    return reader


def whole(raw: bytes, **options: Any) -> Message:
    message = read(raw, **options).message()
    assert message is not None
    return message


@given(st.lists(st.integers(0, len(CHUNKED)), max_size=12))
def test_cuts_of_the_network_do_not_matter(cuts: list[int]) -> None:
    got = read(CHUNKED, cuts=tuple(cuts)).message()
    assert got == whole(CHUNKED)


def test_chunks_stay_as_they_were_cut() -> None:
    got = whole(CHUNKED)
    assert got.first == b"HTTP/1.1 200 Fine"
    assert got.lines == (b"X-A:1", b"x-a: 2", b"Transfer-Encoding: chunked")
    assert got.frames == (b"abc", b"0\r\n\r\n\xff\x00\r\n\r")
    assert (got.trailers, got.surplus) == ((b"X-Sum: 9",), b"next")
    assert got.interim == (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",)
    assert (got.status, got.complete, got.value("X-A")) == (200, True, "1")


@pytest.mark.parametrize(
    ("raw", "body", "complete", "framing"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", True, "length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", b"ok", False, "length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"", True, "length"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True, "none"),
        (b"HTTP/1.1 200 OK\r\n\r\nok", b"ok", False, "close"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", b"ab", False, "chunked"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n", b"", False, "chunked"),
    ],
)
def test_how_a_body_is_told(raw: bytes, body: bytes, complete: bool, framing: str) -> None:
    got = whole(raw)
    assert (got.body, got.complete, got.framing) == (body, complete, framing)


def test_only_an_orderly_close_ends_a_body_without_a_length() -> None:
    for ending, complete in (("fin", True), ("reset", False)):
        reader = read(b"HTTP/1.1 200 OK\r\n\r\nok")
        reader.end(ending)  # type: ignore[arg-type]
        assert reader.complete is complete
    cut = read(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
    cut.end("fin")
    assert not cut.complete


def test_the_answer_to_a_head_request_has_no_body() -> None:
    got = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", bodiless=True)
    assert (got.complete, got.surplus) == (True, b"")


def test_a_request_without_a_length_has_no_body() -> None:
    got = whole(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", is_response=False)
    assert (got.complete, got.framing) == (True, "none")
    assert read(b"GET / HT", is_response=False).message() is None


@given(st.lists(st.integers(0, len(CHUNKED)), max_size=6))
def test_an_old_client_gets_neither_chunks_nor_hints(cuts: list[int]) -> None:
    old, marks = Downgrade(bodiless=False), [0, *sorted(cuts), len(CHUNKED)]
    got = b"".join(old.feed(CHUNKED[a:b]) for a, b in pairwise(marks))
    assert got == b"HTTP/1.1 200 Fine\r\nX-A:1\r\nx-a: 2\r\n\r\nabc0\r\n\r\n\xff\x00\r\n\r"
