"""A real upstream is compared in form only: what it says differently each time does not count."""

import asyncio
import json
from dataclasses import replace

import pytest
from loopback import plain, raw, serving
from selftest.relay import Vice, relay
from tapped import LAST, SSE_HEAD, chunked

from proxyaudit.core.selftest import CheckResult
from proxyaudit.selftest.base import Fail, Outcome, Warn
from proxyaudit.selftest.message import Message
from proxyaudit.selftest.real import Caller, real_checks, structure_differences

ONE = Message(
    b"HTTP/1.1 200 OK",
    (b"Date: 1", b"Content-Type: text/event-stream", b"X-Id: 1", b"Transfer-Encoding: chunked"),
    (b'data: {"a":1,"b":[{"c":2}]}\n\n', b'data: {"a":2,"b":[{"c":3}]}\n\n', b"data: [DONE]\n\n"),
    framing="chunked",
)
TWO = replace(ONE, lines=(b"Date: 2", *ONE.lines[1:2], b"X-Id: 2", ONE.lines[3]))


@pytest.mark.parametrize(
    ("through", "outcomes"),
    [
        (TWO, []),
        (replace(ONE, frames=(*ONE.frames[:2], *ONE.frames)), []),
        (replace(ONE, first=b"HTTP/1.1 502 Bad"), [Fail("status 502 instead of 200")]),
        (
            replace(ONE, lines=ONE.lines[1:]),
            [Fail("the header 'Date' was dropped, or is spelled otherwise")],
        ),
        (replace(ONE, lines=(*ONE.lines, b"Via: x")), [Fail("the header 'Via' was added")]),
        (
            replace(ONE, lines=ONE.lines[::-1]),
            [Fail("the order of the headers was changed")],
        ),
        (
            replace(ONE, lines=(ONE.lines[0], b"Content-Type: text/plain", *ONE.lines[2:])),
            [Fail("the header 'content-type' has another value")],
        ),
        (
            replace(ONE, frames=(ONE.body,)),
            [Fail("one chunk arrived instead of 3: it was held back")],
        ),
        (replace(ONE, complete=False), [Fail("the answer did not come to its end")]),
        (
            replace(ONE, frames=(b'data: {"z":1}\n\n', *ONE.frames[1:])),
            [Warn("the JSON of the answer has other keys")],
        ),
    ],
)
def test_form(through: Message, outcomes: list[Outcome]) -> None:
    assert list(structure_differences(ONE, TWO, through)) == outcomes


def test_where_direct_answers_differ_among_themselves_nothing_is_blamed() -> None:
    other = replace(ONE, lines=ONE.lines[1:], frames=(b'data: {"z":1}\n\n', *ONE.frames))
    assert list(structure_differences(ONE, other, TWO)) == []


def test_requests_are_few_and_announced() -> None:
    """A list of models, and a few tokens of the first: twice direct, once through the proxy."""
    models = plain(
        json.dumps({"data": [{"id": "tiny"}]}).encode(), "Content-Type: application/json"
    )
    events = [chunked(b'data: {"n":%d}\n\n' % n) for n in range(3)]
    stream = raw(SSE_HEAD, *events, LAST, pause=0.01)
    told: list[str] = []

    async def run() -> tuple[list[CheckResult], list[bytes]]:
        async with (
            serving(models, models, models, stream) as server,
            relay(
                server.port, Vice(response=lambda data: data.replace(b"text/ev", b"text/x"))
            ) as at,
        ):
            direct = Caller("127.0.0.1", server.port, "api.example", key="secret")
            results = real_checks(direct, Caller(at.host, at.port, "tap"), told.append)
            return [result async for result in results], server.heads

    (listed, streamed), heads = asyncio.run(run())
    assert (listed.status, streamed.status) == ("ok", "fail")
    assert streamed.details == ["the header 'content-type' has another value"]
    assert [head.split(b"\r\n")[0] for head in heads] == (
        [b"GET /v1/models HTTP/1.1"] * 3 + [b"POST /v1/chat/completions HTTP/1.1"] * 3
    )
    assert [b"Bearer secret" in head for head in heads] == [True, False, True] * 2
    assert told == [
        "asking api.example (twice direct, once through the recorder):",
        "  GET /v1/models",
        "  POST /v1/chat/completions, streamed, at most 8 tokens of tiny",
    ]


def test_an_upstream_that_is_down_is_no_fault_of_the_recorder() -> None:
    async def run() -> list[CheckResult]:
        async with serving(plain(b"{}")) as server:
            pass
        gone = Caller("127.0.0.1", server.port, "gone")
        return [result async for result in real_checks(gone, gone, lambda _: None)]

    listed, streamed = asyncio.run(run())
    assert (listed.status, listed.judged) == ("skip", False)
    assert (streamed.status, streamed.details) == ("skip", ["no model is listed"])
