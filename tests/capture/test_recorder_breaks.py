"""What goes wrong reaches the other side as it would without the recorder, and is recorded."""

import asyncio
import contextlib
import socket

from loopback import raw, serving, then_close, then_reset
from tapped import LAST, SSE_HEAD, Kept, chunked, connected, eventually, post, tap, tapped

from proxyaudit.core.exchange import Response

BEGUN = SSE_HEAD + chunked(b"data: 1\n\n") + chunked(b"data: 2\n\n")
SO_FAR = b"data: 1\n\ndata: 2\n\n"


def partial_response(kept: Kept) -> Response:
    """The response of the one exchange, of which the beginning was seen."""
    response = kept.only.response
    assert response is not None
    assert response.status == 200
    assert response.body == SO_FAR
    assert [chunk.size for chunk in response.chunks] == [9, 9]
    assert response.ended_at is not None
    return response


def test_client_that_goes_away_is_felt_by_the_server() -> None:
    """The server cannot write any more; what the client got so far is recorded."""
    kept = Kept()

    async def run() -> None:
        gone = asyncio.Event()

        async def answer(writer: asyncio.StreamWriter) -> None:
            writer.write(BEGUN)
            await writer.drain()
            # Only a write can tell: ping until the other side is gone.
            with contextlib.suppress(ConnectionError):
                while True:
                    writer.write(chunked(b": still here\n\n"))
                    await writer.drain()
                    await asyncio.sleep(0.005)
            gone.set()

        async with tapped(answer, sink=kept) as here:
            async with connected(here.port) as client:
                await client.send(post())
                await client.head()
                assert [await client.chunk(), await client.chunk()] == [
                    b"data: 1\n\n",
                    b"data: 2\n\n",
                ]
            await asyncio.wait_for(gone.wait(), 10)
            await eventually(lambda: kept.responses)

    asyncio.run(run())
    assert kept.only.response is not None
    assert kept.only.response.body.startswith(SO_FAR)
    assert kept.only.end == "client_abort"
    assert kept.only.error


def test_stream_cut_by_the_server_is_cut_for_the_client() -> None:
    """The connection closes inside the body: the client misses the last chunk, as it should."""
    kept = Kept()

    async def run() -> bytes:
        answer = then_close(raw(BEGUN))
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            return await client.rest()

    got = asyncio.run(run())
    assert got == BEGUN
    partial_response(kept)
    assert kept.only.end == "upstream_eof"


def test_reset_by_the_server_is_told_apart() -> None:
    """A torn connection (RST) is another end than a closed one (FIN)."""
    kept = Kept()

    async def run() -> bytes:
        answer = then_reset(raw(BEGUN))
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            return await client.rest()

    assert asyncio.run(run()) == BEGUN
    partial_response(kept)
    assert kept.only.end == "upstream_reset"


def test_plain_body_shorter_than_promised() -> None:
    """A body that ends before its Content-Length is no complete one."""
    kept = Kept()

    async def run() -> bytes:
        answer = then_close(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + SO_FAR))
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            return await client.rest()

    assert asyncio.run(run()).endswith(SO_FAR)
    assert kept.only.end == "upstream_eof"
    assert kept.only.response is not None
    assert kept.only.response.body == SO_FAR


def test_server_that_closes_before_the_headers() -> None:
    """No answer came: there is no response, and the client is told."""
    kept = Kept()

    async def run() -> bytes:
        async with tapped(then_close(raw()), sink=kept) as here, connected(here.port) as client:
            await client.send(post(b'{"a": 1}'))
            return await client.head()

    assert b" 502 " in asyncio.run(run())
    assert kept.only.response is None
    assert kept.only.end == "upstream_eof"
    assert kept.only.request.body == b'{"a": 1}'


def test_server_that_refuses() -> None:
    """A dead upstream leaves an exchange with its request and no response."""
    kept = Kept()

    async def run() -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        async with tap(f"http://127.0.0.1:{port}", kept) as (at, _), connected(at) as client:
            await client.send(post(b'{"a": 1}'))
            return await client.head()

    assert b" 502 " in asyncio.run(run())
    assert kept.only.response is None
    assert kept.only.end == "upstream_refused"
    assert kept.only.request.body == b'{"a": 1}'
    assert kept.only.error


def test_server_whose_name_is_unknown() -> None:
    """A name that does not resolve counts as refused, with the resolver's words."""
    kept = Kept()

    async def run() -> bytes:
        async with tap("http://nowhere.invalid:9", kept) as (at, _), connected(at) as client:
            await client.send(post())
            return await client.head()

    assert b" 502 " in asyncio.run(run())
    assert kept.only.end == "upstream_refused"


def test_client_that_goes_away_before_the_answer() -> None:
    """An abort during the prefill: the request is there, the response is not."""
    kept = Kept()

    async def run() -> None:
        async def answer(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(30)

        async with tapped(answer, sink=kept) as here:
            async with connected(here.port) as client:
                await client.send(post(b'{"a": 1}'))
                await here.server.asked.wait()
            await eventually(lambda: kept.responses)

    asyncio.run(run())
    assert kept.only.end == "client_abort"
    assert kept.only.response is None
    assert kept.only.request.body == b'{"a": 1}'


def test_client_that_goes_away_inside_its_request() -> None:
    """A torn upload has its lines too; the server never heard of it."""
    kept = Kept()

    async def run() -> int:
        async with tapped(raw(), sink=kept) as here:
            async with connected(here.port) as client:
                await client.send(post(b"x" * 1000)[:-500])
                await eventually(lambda: here.recorder.open)
            await eventually(lambda: kept.responses)
            return here.server.connections

    assert asyncio.run(run()) == 0
    assert kept.only.end == "client_abort"
    assert kept.only.response is None
    assert kept.only.request.body == b""
    assert ("Content-Length", "1000") in kept.only.request.headers


def test_recorder_that_is_stopped_ends_what_goes_on() -> None:
    """Ctrl-C in the middle of a stream blames neither side."""
    kept = Kept()

    async def run() -> bytes:
        async def answer(writer: asyncio.StreamWriter) -> None:
            writer.write(BEGUN)
            await asyncio.sleep(30)

        async with serving(answer) as server, contextlib.AsyncExitStack() as clients:
            async with tap(server.url, kept) as (port, _):
                client = await clients.enter_async_context(connected(port))
                await client.send(post())
                await client.head()
                assert [await client.chunk(), await client.chunk()] == [
                    b"data: 1\n\n",
                    b"data: 2\n\n",
                ]
            return await client.rest()

    assert LAST not in asyncio.run(run())
    partial_response(kept)
    assert kept.only.end == "recorder_stopped"
