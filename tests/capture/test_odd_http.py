"""HTTP that mitmproxy alone would stumble over, on real sockets: the client waits for nothing."""

import asyncio
import logging
import ssl

import pytest
from loopback import Answer, raw
from tapped import LAST, SSE_HEAD, Kept, chunked, connected, post, tapped

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\r\n\r\n"


async def conversation(answer: Answer, sink: Kept, *requests: bytes, end: bytes) -> list[bytes]:
    """What the client reads after each request, up to `end` as a direct client would see it."""
    got = []
    async with tapped(answer, sink=sink) as there, connected(there.port) as client:
        for request in requests:
            await client.send(request)
            async with asyncio.timeout(10):
                got.append(await client.reader.readuntil(end))
    return got


@pytest.mark.parametrize(
    "pieces",
    [
        (HINTS + ANSWER,),
        (HINTS, ANSWER),
        (PROCESSING + HINTS, ANSWER),
        (HINTS[:7], HINTS[7:20], HINTS[20:] + PROCESSING[:9], PROCESSING[9:] + ANSWER),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER,),
    ],
)
def test_informational_answers_come_before_the_answer(pieces: tuple[bytes, ...]) -> None:
    """They are handed on unchanged; the exchange has the answer. Twice, on one connection."""
    sink = Kept()
    answer = raw(*pieces, pause=0.01)
    got = asyncio.run(conversation(answer, sink, post(), post(), end=b"\r\n\r\nok"))
    assert got == [b"".join(pieces)] * 2
    assert [(e.end, e.response and e.response.status) for e in sink.responses] == [
        ("complete", 200)
    ] * 2


def test_informational_answers_are_not_for_old_clients() -> None:
    """HTTP/1.0 knows none: such a client gets the answer alone."""
    sink, old = Kept(), b"POST /v1 HTTP/1.0\r\nContent-Length: 0\r\n\r\n"
    got = asyncio.run(conversation(raw(HINTS + ANSWER), sink, old, end=b"\r\n\r\nok"))
    assert got == [ANSWER]
    assert sink.only.response is not None
    assert sink.only.response.status == 200


def test_trailers_do_not_keep_a_stream_open() -> None:
    """The body ends, with its last byte and without the trailers; the connection can go on."""
    sink, body = Kept(), SSE_HEAD + chunked(b"data: 1\n\n")
    answer = raw(body + b"0\r\nServer-Timing: x;dur=1\r\nX-Sum: 9\r\n\r\n")
    got = asyncio.run(conversation(answer, sink, post(), post(), end=b"\r\n0\r\n\r\n"))
    assert got == [body + LAST] * 2
    for exchange in sink.responses:
        assert exchange.end == "complete"
        assert exchange.response is not None
        assert exchange.response.body == b"data: 1\n\n"


def test_trailers_of_a_request() -> None:
    """A request with trailers is sent on, and has its body in the recording."""
    sink = Kept()
    request = b"POST /v1 HTTP/1.1\r\nHost: tap\r\nTransfer-Encoding: chunked\r\n\r\n"
    request += chunked(b"{}") + b"0\r\nX-Sum: 9\r\n\r\n"
    got = asyncio.run(conversation(raw(ANSWER), sink, request, end=b"\r\n\r\nok"))
    assert got == [ANSWER]
    assert sink.responses[0].request.body == b"{}"


def test_client_that_asks_before_it_sends() -> None:
    """`Expect: 100-continue` is answered at once, and recorded among the headers."""
    sink = Kept()

    async def run() -> None:
        async with tapped(raw(ANSWER), sink=sink) as there, connected(there.port) as client:
            head, body = post(b'{"n":1}', b"Expect: 100-continue").split(b"\r\n\r\n")
            async with asyncio.timeout(10):
                await client.send(head + b"\r\n\r\n")
                assert (await client.head()).startswith(b"HTTP/1.1 100 ")
                await client.send(body)
                assert await client.answer() == (ANSWER[:-2], b"ok")

    asyncio.run(run())
    assert ("Expect", "100-continue") in sink.only.request.headers
    assert sink.only.request.body == b'{"n":1}'


def test_tls_to_a_plain_tap_is_refused_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """The client's library says what is wrong, and so does the log, once; nothing is recorded."""
    sink = Kept()
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

    async def run() -> None:
        async with tapped(raw(ANSWER), sink=sink) as there, asyncio.timeout(10):
            for _ in range(2):
                with pytest.raises(ssl.SSLError, match=r"(?i)wrong.version.number"):
                    await asyncio.open_connection("127.0.0.1", there.port, ssl=trusting)
            async with connected(there.port) as client:
                await client.send(post())
                assert (await client.answer())[1] == b"ok"

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert [record.getMessage().partition(" port ")[0] for record in caplog.records] == [
        "a client speaks TLS to"
    ]
    assert len(sink.responses) == 1
