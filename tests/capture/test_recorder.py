"""The recorder on real sockets: the client gets what it would get without it, and all is noted."""

import asyncio
import gzip
import hashlib
import random
from pathlib import Path

import pytest
from loopback import Answer, plain, raw, serving
from tapped import LAST, SSE_HEAD, Kept, chunked, connected, eventually, post, tap, tapped

from proxyaudit.core.exchange import Response
from proxyaudit.store.read import open_recording
from proxyaudit.store.write import RecordingWriter

EVENTS = [f'data: {{"delta": "wörd {n} \u2603"}}\n\n'.encode() for n in range(12)]


def response_of(kept: Kept) -> Response:
    response = kept.only.response
    assert response is not None
    return response


def in_lockstep(pieces: list[bytes], seen: "asyncio.Queue[None]") -> Answer:
    """Writes a piece only after the client has said that it saw the one before."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await seen.get()

    return answer


async def reads_of(port: int, number: int, seen: "asyncio.Queue[None]") -> list[bytes]:
    """What each read of the socket brings; each is acknowledged to the server."""
    reads = []
    async with connected(port) as client:
        await client.send(post())
        for _ in range(number):
            reads.append(await client.reader.read(65536))
            seen.put_nowait(None)
    return reads


def test_one_read_for_each_chunk() -> None:
    """Head and chunks come one by one, each before the server sends the next, as without it."""
    pieces = [SSE_HEAD, *map(chunked, EVENTS), LAST]
    kept = Kept()

    async def run() -> None:
        seen: asyncio.Queue[None] = asyncio.Queue()
        async with asyncio.timeout(20), tapped(in_lockstep(pieces, seen), sink=kept) as here:
            direct = await reads_of(here.server.port, len(pieces), seen)
            through = await reads_of(here.port, len(pieces), seen)
        assert direct == pieces
        assert through == pieces

    asyncio.run(run())
    response = response_of(kept)
    assert [chunk.size for chunk in response.chunks] == [len(event) for event in EVENTS]
    assert response.body == b"".join(EVENTS)
    times = [chunk.at for chunk in response.chunks]
    assert times == sorted(times)
    assert response.ended_at is not None
    assert 0 < times[0] <= times[-1] <= response.ended_at
    assert kept.only.end == "complete"


def test_chunks_in_one_segment_are_not_merged() -> None:
    """Chunks that arrive together are handed on and noted one by one."""
    kept = Kept()

    async def run() -> list[bytes]:
        together = SSE_HEAD + b"".join(map(chunked, EVENTS)) + LAST
        async with tapped(raw(together), sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            await client.head()
            return await client.chunks()

    assert asyncio.run(run()) == EVENTS
    assert [chunk.size for chunk in response_of(kept).chunks] == [len(event) for event in EVENTS]


def test_twenty_megabytes_both_ways(tmp_path: Path) -> None:
    """Large bodies arrive byte for byte, and so they stand in the recording."""
    made = random.Random(1)
    asked, said = made.randbytes(20_000_000), made.randbytes(20_000_000)
    writer = RecordingWriter(tmp_path / "big")

    async def run() -> tuple[bytes, bytes]:
        async with (
            tapped(plain(said), sink=writer) as here,
            connected(here.port) as client,
        ):
            await client.send(post(asked))
            _, got = await client.answer()
            return here.server.bodies[0], got

    arrived, got = asyncio.run(run())
    writer.close()
    (exchange,) = open_recording(tmp_path / "big").exchanges
    assert exchange.response is not None
    sums = [hashlib.sha256(body).hexdigest() for body in (asked, said)]
    assert [hashlib.sha256(body).hexdigest() for body in (arrived, got)] == sums
    recorded = (exchange.request.body, exchange.response.body)
    assert [hashlib.sha256(body).hexdigest() for body in recorded] == sums
    assert sum(chunk.size for chunk in exchange.response.chunks) == len(said)


def test_headers_pass_untouched(tmp_path: Path) -> None:
    """Doubled, odd, huge and not UTF-8: in order and case as sent; only `Host` is aimed anew."""
    ours = (
        b"x-Twice: a",
        b"X-TWICE: b",
        b"x-latin: caf\xe9",
        b"X-utf: caf\xc3\xa9",
        b"x-empty: ",
        b"x-huge: " + b"h" * 40_000,
        b"Authorization: Bearer sk-1",
    )
    theirs = (b"Set-Cookie: a=1", b"set-cookie: b=2", b"X-Odd: \xff", b"x-huge: " + b"g" * 40_000)
    answer = b"\r\n".join((b"HTTP/1.1 299 Quite Fine", *theirs, b"content-length: 2")) + b"\r\n\r\n"
    kept = Kept()
    writer = RecordingWriter(tmp_path / "odd")

    async def run() -> tuple[bytes, bytes, int]:
        async with tapped(raw(answer + b"{}"), sink=kept) as here, connected(here.port) as client:
            await client.send(post(b"{}", *ours))
            head, _ = await client.answer()
            return here.server.heads[0], head, here.server.port

    arrived, head, port = asyncio.run(run())
    sent = post(b"", *ours).replace(b"Length: 0", b"Length: 2")
    assert arrived == sent.replace(b"tap.example", b"127.0.0.1:%d" % port)
    assert head == answer
    request = kept.only.request
    assert request.headers[0] == ("Host", "tap.example")
    assert ("x-latin", "caf\udce9") in request.headers
    assert ("X-utf", "café") in request.headers
    assert [value for name, value in request.headers if name.lower() == "x-twice"] == ["a", "b"]
    assert [name for name, _ in response_of(kept).headers][:2] == ["Set-Cookie", "set-cookie"]
    writer.whole(kept.only)
    writer.close()
    (again,) = open_recording(tmp_path / "odd").exchanges
    assert ("x-latin", "caf\udce9") in again.request.headers


def test_compressed_stream_is_not_unpacked() -> None:
    """A gzip stream, cut anywhere, reaches client and recording as the compressed bytes it is."""
    packed = gzip.compress(b"".join(EVENTS))
    cuts = [packed[:7], packed[7:40], packed[40:]]
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    kept = Kept()

    async def run() -> list[bytes]:
        answer = raw(head, *map(chunked, cuts), LAST)
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            await client.head()
            return await client.chunks()

    assert asyncio.run(run()) == cuts
    assert response_of(kept).body == packed


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "503 Busy"])
def test_bodiless_and_failed_answers_are_exchanges_too(status: str) -> None:
    """Whatever the server answers is an answer."""
    kept = Kept()

    async def run() -> bytes:
        answer = raw(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            return await client.head()

    assert status.encode() in asyncio.run(run())
    response = response_of(kept)
    assert (response.status, response.body, response.chunks) == (int(status[:3]), b"", ())
    assert kept.only.end == "complete"


def test_body_until_close() -> None:
    """An answer without length or chunks ends with its connection, and is complete."""
    kept = Kept()

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")
        await writer.drain()
        writer.close()

    async def run() -> bytes:
        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post())
            return await client.rest()

    assert asyncio.run(run()).endswith(b"\r\n\r\nhello")
    assert response_of(kept).body == b"hello"
    assert kept.only.end == "complete"


def test_connections_are_kept_alive() -> None:
    """Three requests of one client take one connection to the server, and say so."""
    kept = Kept()

    async def run() -> int:
        async with (
            tapped(plain(b"1"), plain(b"2"), plain(b"3"), sink=kept) as here,
            connected(here.port) as client,
        ):
            for said in (b"1", b"2", b"3"):
                await client.send(post(said))
                assert (await client.answer())[1] == said
            return here.server.connections

    assert asyncio.run(run()) == 1
    assert [e.request.body for e in kept.responses] == [b"1", b"2", b"3"]
    assert len({e.id for e in kept.responses}) == 3
    assert len({e.connection for e in kept.responses}) == 1
    assert kept.responses[0].connection is not None


def test_streams_at_once_do_not_mix() -> None:
    """Many streams in parallel: each client gets its own words, and so has each exchange."""
    kept = Kept()

    async def run() -> list[bytes]:
        async with serving(_echo) as server, tap(server.url, kept) as (port, _):

            async def one(number: int) -> bytes:
                async with connected(port) as client:
                    await client.send(post(path=b"/%d" % number))
                    await client.head()
                    return b"".join(await client.chunks())

            return await asyncio.gather(*map(one, range(24)))

    got = asyncio.run(run())
    assert len(set(got)) == 24
    recorded = {e.response.body for e in kept.responses if e.response}
    assert recorded == set(got)


_serial = iter(range(1_000_000))


async def _echo(writer: asyncio.StreamWriter) -> None:
    number = next(_serial)
    writer.write(SSE_HEAD)
    for _ in range(5):
        writer.write(chunked(b"%d." % number))
        await writer.drain()
        await asyncio.sleep(0)
    writer.write(LAST)


def test_url_is_the_one_the_client_asked_for() -> None:
    """The tap's address and the client's path, query and all, whatever stands before it upstream."""
    kept = Kept()

    async def run() -> tuple[bytes, int]:
        async with (
            serving(plain(b"{}")) as server,
            tap(f"{server.url}/deep/v1", kept) as (port, _),
            connected(port) as client,
        ):
            await client.send(post(path=b"/v1/chat/completions?beta=%C3%A9"))
            await client.answer()
            return server.heads[0].split(b" ")[1], port

    path, port = asyncio.run(run())
    assert path == b"/deep/v1/chat/completions?beta=%C3%A9"
    assert kept.only.request.url == f"http://127.0.0.1:{port}/v1/chat/completions?beta=%C3%A9"


def test_request_line_is_written_before_the_answer() -> None:
    """The request is on disk while the server still thinks: kill -9 then loses the answer only."""
    kept = Kept()

    async def run() -> None:
        go = asyncio.Event()

        async def answer(writer: asyncio.StreamWriter) -> None:
            await go.wait()
            await plain(b"{}")(writer)

        async with tapped(answer, sink=kept) as here, connected(here.port) as client:
            await client.send(post(b'{"q": 1}'))
            await eventually(lambda: kept.requests)
            assert kept.responses == []
            assert kept.requests[0].request.body == b'{"q": 1}'
            assert here.recorder.open == 1
            go.set()
            await client.answer()

    asyncio.run(run())
    assert kept.only.end == "complete"
