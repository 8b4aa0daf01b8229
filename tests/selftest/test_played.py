"""Checks on real sockets: they pass where nothing is between, and find each vice of a proxy."""

import asyncio
import re
from collections.abc import Callable

import pytest
from selftest.relay import Vice, relay

from proxyaudit.core.selftest import CheckResult
from proxyaudit.selftest.base import all_checks
from proxyaudit.selftest.live import Timing
from proxyaudit.selftest.run import Ran, reaches, run_checks
from proxyaudit.selftest.script import Fin, Script, get
from proxyaudit.selftest.stage import stage
from proxyaudit.selftest.visit import Address

SLOW = {"body.large", "stream.pacing"}


def played(vice: Vice, *ids: str, patience: float = 5.0) -> Ran:
    """Play checks through a relay with a vice."""

    async def run() -> Ran:
        checks = [check for check in all_checks() if check.id in ids]
        assert len(checks) == len(ids)
        async with (
            stage("127.0.0.1", 0, Timing(patience, 0.05)) as there,
            relay(there.direct.port, vice) as through,
        ):
            assert await reaches(there, through) == ""
            return await run_checks(there, through, checks)

    return asyncio.run(run())


def only(vice: Vice, id_: str, patience: float = 5.0) -> CheckResult:
    [result] = played(vice, id_, patience=patience).results
    return result


def test_a_relay_that_knows_nothing_of_http_is_transparent() -> None:
    ids = [check.id for check in all_checks() if check.id not in SLOW]
    results = played(Vice(), *ids).results
    assert [(r.id, r.status, r.details) for r in results] == [(id_, "ok", []) for id_ in ids]


def replaced(before: bytes, after: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(before, after)


def swapped(data: bytes) -> bytes:
    return re.sub(rb"(X-Second: 2\r\n)(x-lower: kept\r\n)", rb"\2\1", data)


def merged(data: bytes) -> bytes:
    """Two neighbouring chunks of a burst become one."""
    return data.replace(
        b"9\r\ndata: 0\n\n\r\n9\r\ndata: 1\n\n\r\n", b"12\r\ndata: 0\n\ndata: 1\n\n\r\n"
    )


VICES = [
    ("request.bytes", Vice(request=replaced(b"x-lower: kept\r\n", b"")), "'x-lower: kept' was dropped"),
    ("request.bytes", Vice(request=replaced(b"x-twice", b"X-Twice")), "'x-twice' is spelled 'X-Twice'"),
    ("request.bytes", Vice(request=replaced(b"gzip, deflate", b"identity, gz")), "became"),
    ("request.bytes", Vice(request=swapped), "the order of the headers was changed"),
    ("request.bytes", Vice(request=replaced(b"\r\n\r\n", b"\r\nVia: 1.1 x\r\n\r\n")), "'Via: 1.1 x' was added"),
    ("request.bytes", Vice(request=replaced(b"%2F%7e+y", b"%2F~+y")), "its first line is"),
    ("request.bytes", Vice(request=replaced(b'"n":1.0', b'"n":1e0')), "the body differs from byte"),
    ("response.bytes", Vice(response=replaced(b"Fine By Me", b"OK")), "its first line is"),
    ("response.bytes", Vice(response=replaced(b"set-cookie: b=2; HttpOnly\r\n", b"")), "was dropped"),
    ("response.bytes", Vice(response=replaced(b"Server: scripted", b"Server: x")), "became"),
    ("response.errors", Vice(response=replaced(b" 429 Too", b" 200 Too")), "status 200 arrived instead of 429"),
    ("response.errors", Vice(response=replaced(b"Retry-After: 7", b"X-After: 7")), "'Retry-After: 7' was dropped"),
    ("response.gzip", Vice(response=replaced(b"no gzip at all", b"a gzip at all!")), "the body differs"),
    ("stream.chunks", Vice(response=merged), "39 chunks arrived instead of 40"),
    ("stream.events", Vice(response=replaced(b": ping", b": pong")), "the body differs from byte"),
    ("stream.events", Vice(response=replaced(b"\xff\xfe no", b"?? no")), "the body differs from byte"),
    ("end.upstream", Vice(last_words=b"0\r\n\r\n"), "the client got a whole answer, with a clean end"),
    ("websocket.echo", Vice(request=replaced(b"Upgrade: websocket\r\n", b"")), "was not passed on"),
    ("response.trailers", Vice(response=replaced(b"X-Sum: 9", b"X-Sum: 8")), "the trailers were changed"),
]  # fmt: skip


@pytest.mark.parametrize(("id_", "vice", "words"), VICES)
def test_a_vice_is_found_and_told(id_: str, vice: Vice, words: str) -> None:
    result = only(vice, id_)
    assert result.status == "fail"
    assert words in "\n".join(result.details)


def test_a_proxy_that_hoards_a_stream_holds_it_back() -> None:
    result = only(Vice(hoards=True), "stream.chunks", patience=0.5)
    assert result.status == "fail"
    assert result.details == [
        "held back: the first byte of the body did not arrive before more was sent"
    ]


def test_a_proxy_that_clings_to_the_upstream_hides_that_the_client_left() -> None:
    result = only(Vice(clings=True), "end.client", patience=0.5)
    assert result.status == "fail"
    assert result.details == [
        "in the middle of a stream: the upstream did not see that the client had left",
        "before the first byte of the answer: the upstream did not see that the client had left",
    ]


def test_silence_where_the_upstream_is_down() -> None:
    result = only(Vice(patient=30), "end.refused", patience=0.5)
    assert result.status == "fail"
    assert result.details == ["connection refused: the client still waits for an answer"]


def test_what_is_lawful_but_can_be_seen_is_a_warning() -> None:
    spaced = only(Vice(request=replaced(b"X-Second: 2", b"X-Second:2")), "request.bytes")
    assert spaced.status == "warn"
    assert spaced.details == ["spaces around the values of headers were changed"]
    trailers = Vice(response=replaced(b"X-Sum: 9\r\nServer-Timing: x;dur=1\r\n", b""))
    assert only(trailers, "response.trailers").status == "warn"
    hints = Vice(response=replaced(b"HTTP/1.1 102 Processing\r\n\r\n", b""))
    assert only(hints, "response.interim").details == [
        "interim answers: 2 direct, 1 through the proxy"
    ]


def test_a_proxy_that_leads_elsewhere_is_known_before_the_checks() -> None:
    """A wrong port, a page of its own, nobody at all."""

    async def run() -> list[str]:
        timing = Timing(1.0, 0.05)
        elsewhere = Vice(request=replaced(b"/selftest/", b"/other/"))
        async with stage("127.0.0.1", 0, timing) as there:
            async with relay(there.direct.port, elsewhere) as through:
                told = [await reaches(there, through)]
            told.append(await reaches(there, Address("127.0.0.1", through.port)))
        return told

    page, nobody = asyncio.run(run())
    assert page == "it answered 404 by itself"
    assert nobody.startswith("no connection")


def test_a_prefix_of_the_proxys_url_stands_before_the_path() -> None:
    """And may be gone when the request arrives."""

    async def run() -> list[CheckResult]:
        checks = [check for check in all_checks() if check.id == "request.bytes"]
        strip = Vice(request=replaced(b" /api/v9/selftest/", b" /selftest/"))
        async with (
            stage("127.0.0.1", 0, Timing()) as there,
            relay(there.direct.port, strip) as bare,
        ):
            return (
                await run_checks(there, Address(bare.host, bare.port, "/api/v9"), checks)
            ).results

    [result] = asyncio.run(run())
    assert (result.status, result.details) == ("ok", [])


def test_the_port_can_be_listened_on_again_after_the_dark() -> None:
    """And an answer that never begins is seen as such from both ends."""

    async def run() -> None:
        async with stage("127.0.0.1", 0, Timing()) as there:
            (dark,) = await there.play(Script((get((Fin(),)),), dark=True), there.direct)
            (closed,) = await there.play(Script((get((Fin(),)),)), there.direct)
        assert dark.failed.startswith("no connection")
        assert (closed.failed, closed.response) == ("", None)
        assert closed.request is not None

    asyncio.run(run())
