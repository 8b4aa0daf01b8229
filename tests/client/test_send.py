"""The sender on real sockets: what leaves is what was recorded, what happens becomes data."""

import asyncio
import socket
import sys

import httpx
import pytest
from loopback import Answer, plain, raw, serving, then_close, then_reset

from proxyaudit.client.headers import outgoing_headers, request_target
from proxyaudit.client.send import Timeouts, open_client, send
from proxyaudit.core.exchange import Exchange, Request, header

BODY = b'{ "model":"m",\r\n "x": 1.0, "x": 1e0, "t": "\\u00e9 \xc3\xa9" }'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
QUICK = Timeouts(connect=2.0, silence=0.3)


def a_request(url: str, *headers: tuple[str, str], body: bytes = BODY) -> Request:
    return Request("POST", url + "/v1/chat/completions", headers, body)


async def one(answer: Answer, timeouts: Timeouts = QUICK) -> Exchange:
    async with serving(answer) as server, open_client() as client:
        return await send(client, a_request(server.url), timeouts=timeouts)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def test_body_and_headers_arrive_as_recorded() -> None:
    """Every byte of the body, every header in order, case and number; nothing is added."""
    recorded = (
        ("host", "recorded.example"),
        ("User-Agent", "harness/1"),
        ("X-Twice", "a"),
        ("accept-encoding", "br"),
        ("x-twice", "b"),
        ("Content-Length", "7"),
        ("X-Last", "caf\u00e9"),
    )

    async def run() -> None:
        async with serving(plain(b"{}")) as server, open_client() as client:
            exchange = await send(client, a_request(server.url, *recorded))
            assert server.bodies == [BODY]
            expected = [
                ("host", f"127.0.0.1:{server.port}"),
                ("User-Agent", "harness/1"),
                ("X-Twice", "a"),
                ("accept-encoding", "br"),
                ("x-twice", "b"),
                ("Content-Length", str(len(BODY))),
                ("X-Last", "caf\u00e9"),
            ]
            assert server.headers(0) == expected
            assert list(exchange.request.headers) == expected
            assert exchange.request.body == BODY
            assert exchange.end == "complete"

    asyncio.run(run())


def test_bare_request_gets_host_and_length_only() -> None:
    """httpx's Accept, Accept-Encoding, Connection and User-Agent never leave."""

    async def run() -> None:
        async with serving(plain(b"{}")) as server, open_client() as client:
            await send(client, a_request(server.url))
            await send(client, Request("GET", server.url + "/v1/models?a=%7e/../b"))
            names = [[name for name, _ in server.headers(n)] for n in (0, 1)]
            assert names == [["Host", "Content-Length"], ["Host"]]
            assert server.heads[1].startswith(b"GET /v1/models?a=%7e/../b HTTP/1.1\r\n")

    asyncio.run(run())


def test_hop_by_hop_headers_stay_behind() -> None:
    """Headers of the old connection, and those it named, are left out; a chunked body is sized."""
    headers = (
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "1"),
        ("Transfer-Encoding", "chunked"),
        ("TE", "trailers"),
        (":authority", "a"),
        ("X-Kept", "1"),
    )
    sent = outgoing_headers(Request("POST", "http://h:80/x", headers, b"abc"))
    assert sent == (("Host", "h"), ("X-Kept", "1"), ("Content-Length", "3"))


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h", b"/"),
        ("http://h?a=b", b"/?a=b"),
        ("http://h/a//b/./c%2F?q=a b#frag", b"/a//b/./c%2F?q=a%20b"),
        ("http://h/\u00e9", b"/%C3%A9"),
    ],
)
def test_request_target_is_the_recorded_one(url: str, target: bytes) -> None:
    """Path and query are not normalised."""
    assert request_target(url) == target


def test_cookies_are_never_sent_back_and_redirects_not_followed() -> None:
    """A cookie of one answer does not leak into the next request; a 302 is an answer."""
    redirect = plain(b"", "Set-Cookie: s=1; Path=/", "Location: /other", status="302 Found")

    async def run() -> None:
        async with serving(redirect, plain(b"{}")) as server, open_client() as client:
            first = await send(client, a_request(server.url))
            await send(client, a_request(server.url))
            assert first.response is not None
            assert first.response.status == 302
            assert header(first.response.headers, "set-cookie") == "s=1; Path=/"
            assert len(server.heads) == 2
            assert b"cookie" not in server.heads[1].lower()
            assert server.connections == 1

    asyncio.run(run())


def test_environment_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy variable must not put another hop into a measured path."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert asyncio.run(one(plain(b"{}"))).end == "complete"


def test_encoded_answer_is_kept_encoded_with_its_duplicates() -> None:
    """No decoding, no folding of headers: what is stored is what was on the wire."""
    exchange = asyncio.run(one(plain(b"\x1f\x8bxx", "Content-Encoding: gzip", "X-A: 1", "x-a: 2")))
    assert exchange.response is not None
    assert exchange.response.body == b"\x1f\x8bxx"
    assert exchange.response.headers[1:] == (
        ("Content-Encoding", "gzip"),
        ("X-A", "1"),
        ("x-a", "2"),
    )


def test_chunks_are_timed_as_they_arrive() -> None:
    """Three chunks, 60 ms apart, are three entries, in order, with the pause between them."""
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    pieces = (chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), chunk(b"data: 3\n\n") + b"0\r\n\r\n")
    exchange = asyncio.run(one(raw(head, *pieces, pause=0.06)))
    assert exchange.response is not None
    assert exchange.end == "complete"
    assert exchange.response.body == b"data: 1\n\ndata: 2\n\ndata: 3\n\n"
    assert [c.size for c in exchange.response.chunks] == [9, 9, 9]
    times = [c.at for c in exchange.response.chunks]
    assert times[1] - times[0] > 0.03
    assert times[2] - times[1] > 0.03
    assert exchange.response.ended_at is not None
    assert exchange.response.ended_at >= times[2]


def test_two_chunks_of_one_read_are_not_merged() -> None:
    """HTTP chunks that arrive together stay apart."""
    both = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"ab") + chunk(b"c") + chunk(b"")
    exchange = asyncio.run(one(raw(both)))
    assert exchange.response is not None
    assert [c.size for c in exchange.response.chunks] == [2, 1]


def test_cut_chunked_stream_is_an_eof_and_keeps_its_bytes() -> None:
    """A stream that ends without its last chunk."""
    cut = then_close(raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"data: 1\n\n")))
    exchange = asyncio.run(one(cut))
    assert exchange.end == "upstream_eof"
    assert exchange.response is not None
    assert exchange.response.body == b"data: 1\n\n"


def test_body_shorter_than_its_length_is_an_eof() -> None:
    """Content-Length promised more than came."""
    exchange = asyncio.run(one(then_close(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"))))
    assert exchange.end == "upstream_eof"
    assert exchange.response is not None
    assert exchange.response.body == b"abc"


def test_body_without_a_length_ends_with_the_connection() -> None:
    """A close is the natural end where nothing promised another."""
    exchange = asyncio.run(one(then_close(raw(HEAD + b"\r\nabc"))))
    assert exchange.end == "complete"
    assert exchange.response is not None
    assert exchange.response.body == b"abc"


def test_reset_connection() -> None:
    """A torn connection is told from one that ended."""
    exchange = asyncio.run(one(then_reset(raw(HEAD + b"\r\nabc"))))
    assert exchange.end == "upstream_reset"
    assert exchange.error
    assert exchange.response is not None
    assert exchange.response.body == b"abc"


def test_close_without_an_answer() -> None:
    """The server hung up before a status line."""
    exchange = asyncio.run(one(then_close(raw())))
    assert (exchange.end, exchange.response) == ("upstream_eof", None)


def test_silence_is_a_timeout_after_the_time_given() -> None:
    """Silence before the head, and in the middle of a body."""
    before = asyncio.run(one(raw()))
    assert (before.end, before.response) == ("timeout", None)
    within = asyncio.run(one(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")))
    assert within.end == "timeout"
    assert within.response is not None
    assert within.response.body == b"abc"


def test_answer_that_is_not_http() -> None:
    """Garbage is an error with the reason, not an exception."""
    exchange = asyncio.run(one(then_close(raw(b"SSH-2.0-x\r\n\r\n"))))
    assert exchange.end == "error"
    assert exchange.error


def test_refused_connection_and_unusable_address() -> None:
    """Nobody listens; a host that is no name; a scheme nobody speaks."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def run(url: str) -> Exchange:
        async with open_client() as client:
            return await send(client, a_request(url), timeouts=QUICK)

    refused = asyncio.run(run(f"http://127.0.0.1:{port}"))
    assert (refused.end, refused.response) == ("upstream_refused", None)
    assert refused.error
    for url in ("ftp://127.0.0.1", "http://[::bad", "nonsense", "http://h:port"):
        assert asyncio.run(run(url)).end == "error", url


def test_refused_header_value_is_not_quoted() -> None:
    """A key with a line end in it cannot be sent, and must not turn up in the error."""

    async def run() -> Exchange:
        async with serving(plain(b"{}")) as server, open_client() as client:
            return await send(client, a_request(server.url, ("Authorization", "Bearer s3cret\n")))

    exchange = asyncio.run(run())
    assert exchange.end == "error"
    assert exchange.error is not None
    assert "header value" in exchange.error
    assert "s3cret" not in exchange.error


def test_request_is_announced_before_the_answer() -> None:
    """Whoever writes a recording gets the request first, once, even when nothing can be sent."""
    seen: list[Exchange] = []

    async def run() -> None:
        async with serving(raw()) as server, open_client() as client:
            ask = a_request(server.url)
            sending = asyncio.ensure_future(send(client, ask, on_request=seen.append))
            await server.asked.wait()
            assert [e.response for e in seen] == [None]
            assert [c.size for c in seen[0].request.chunks] == [len(BODY)]
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            await send(client, a_request("http://[::bad"), on_request=seen.append)
            assert len(seen) == 2

    asyncio.run(run())


def test_error_of_the_caller_is_not_blamed_on_the_server() -> None:
    """A full disk while writing the recording is raised as it is."""

    def full(_: Exchange) -> None:
        raise OSError("no space left")

    async def run() -> None:
        async with serving(plain(b"{}")) as server, open_client() as client:
            with pytest.raises(OSError, match="no space"):
                await send(client, a_request(server.url), on_request=full)
            with pytest.raises(OSError, match="no space"):
                await send(client, a_request("http://[::bad"), on_request=full)

    asyncio.run(run())


def test_clocks_are_the_callers() -> None:
    """Start and chunk times come from the clocks given."""
    ticks = iter(range(100, 200))

    async def run() -> Exchange:
        async with serving(plain(b"{}")) as server, open_client() as client:
            return await send(
                client, a_request(server.url), clock=lambda: next(ticks), wall=lambda: 7.5
            )

    exchange = asyncio.run(run())
    assert exchange.started_at == 7.5
    assert exchange.response is not None
    assert exchange.response.chunks == ((2.0, 2),)


def test_client_is_the_bare_transport_and_warm() -> None:
    """Were it an AsyncClient, cookies, redirects and default headers would come with it."""

    async def run() -> None:
        async with open_client() as client:
            assert isinstance(client, httpx.AsyncHTTPTransport)
            assert "anyio._backends._asyncio" in sys.modules

    asyncio.run(run())
