"""Results without a socket: what a check makes of what was seen, and a verdict of results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from proxyaudit.core.exchange import Chunk, End, Exchange, Headers, Request, Response
from proxyaudit.core.selftest import CheckResult, Status, verdict_of
from proxyaudit.selftest.base import (
    Check,
    Fail,
    Outcome,
    RecordedCheck,
    Warn,
    all_checks,
    recorded_checks,
)
from proxyaudit.selftest.checks import (
    recording_ends,
    recording_requests,
    recording_responses,
    stream_parallel,
)
from proxyaudit.selftest.checks.stream_pacing import judge as judge_pacing
from proxyaudit.selftest.checks.stream_pacing import pacing
from proxyaudit.selftest.interval import median_interval
from proxyaudit.selftest.message import Message
from proxyaudit.selftest.run import judge_recording, judged
from proxyaudit.selftest.script import OK, Pair, Script, Seen, get

SCRIPT = Script((get((OK,)),))
HEADERS: Headers = (("Host", "x"), ("Authorization", "Bearer secret"))
ASKED = Message(b"GET /selftest/a HTTP/1.1", (b"Host: x", b"Authorization: Bearer secret"))
ANSWER = Message(
    b"HTTP/1.1 200 OK",
    (b"Transfer-Encoding: chunked",),
    (b"ab", b"c"),
    framing="chunked",
)
SEEN = Seen("a", sent=ASKED, request=ASKED, answered=ANSWER, response=ANSWER)
GOOD = Pair(SCRIPT, (SEEN,), (SEEN,))
EXCHANGE = Exchange(
    "1",
    "client",
    0.0,
    Request(
        "GET", "http://x/selftest/a", (("Host", "x"), ("Authorization", "[redacted sha256:1]"))
    ),
    Response(
        200,
        (("Transfer-Encoding", "chunked"),),
        b"abc",
        chunks=(Chunk(0.1, 2), Chunk(0.2, 1)),
    ),
)


def checking(*outcomes: Outcome) -> Check:
    def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
        yield from outcomes

    return Check("a.b", "it is so", judge, lambda: (SCRIPT,))


@pytest.mark.parametrize(
    ("outcomes", "status", "details"),
    [
        ((), "ok", []),
        ((Warn("w"), Warn("w")), "warn", ["w"]),
        ((Warn("w"), Fail("f"), Warn("w")), "fail", ["f", "w"]),
    ],
)
def test_a_failure_outweighs_warnings_and_each_is_told_once(
    outcomes: tuple[Outcome, ...], status: str, details: list[str]
) -> None:
    result = judged(checking(*outcomes), [GOOD])
    assert (result.status, result.details, result.judged) == (status, details, True)


def test_many_differences_are_counted() -> None:
    result = judged(checking(*(Fail(str(n)) for n in range(9))), [GOOD])
    assert result.details == ["0", "1", "2", "3", "4", "5", "and 3 more differences"]


@pytest.mark.parametrize(
    ("direct", "reason"),
    [
        (replace(SEEN, failed="no connection"), "no connection"),
        (replace(SEEN, request=None), "the request did not reach the scripted upstream"),
        (replace(SEEN, stalled=3), "the direct connection was too slow to compare with"),
        (
            replace(SEEN, response=replace(ANSWER, complete=False)),
            "the direct answer did not come to its end",
        ),
    ],
)
def test_where_the_direct_run_fails_nothing_is_proved(direct: Seen, reason: str) -> None:
    result = judged(checking(Fail("never told")), [Pair(SCRIPT, (direct,), (SEEN,))])
    assert (result.status, result.details, result.judged) == ("skip", [reason], False)


@pytest.mark.parametrize(
    ("statuses", "all_judged", "verdict"),
    [
        (["ok", "warn", "skip"], True, "transparent"),
        (["ok", "fail"], False, "not transparent"),
        (["ok", "skip"], False, "inconclusive"),
        (["skip"], True, "inconclusive"),
        ([], True, "inconclusive"),
    ],
)
def test_verdicts(statuses: list[Status], all_judged: bool, verdict: str) -> None:
    results = [
        CheckResult(id="a", proves="b", status=s, judged=all_judged or s != "skip")
        for s in statuses
    ]
    assert verdict_of(results) == verdict


def timed(added: float, number: int) -> Pair:
    """A pair of streams, where the proxy adds some seconds to everything."""
    wrote = tuple(0.01 * n for n in range(5))
    noise = number % 3 / 1000
    direct = replace(
        SEEN, head_at=0.001, written_at=wrote, read_at=tuple(at + 0.001 + noise for at in wrote)
    )
    through = replace(
        direct, head_at=0.001 + added, read_at=tuple(at + added for at in direct.read_at)
    )
    return Pair(SCRIPT, (direct,), (through,))


def test_pacing_tells_what_is_added_and_warns_of_a_buffer_only() -> None:
    quick, slow = [timed(0.004, n) for n in range(9)], [timed(0.4, n) for n in range(9)]
    found = pacing(quick)
    assert found is not None
    assert found.chunk.median == pytest.approx(0.004)
    assert found.first_byte.median == pytest.approx(0.004)
    assert found.direct_chunk == pytest.approx(0.002)
    assert list(judge_pacing(quick)) == []
    assert list(judge_pacing(slow)) == [
        Warn("the first byte comes 400 ms later than direct (median)"),
        Warn("a chunk comes 400 ms later than direct (median)"),
    ]
    assert list(judge_pacing([])) == [Warn("no chunk times to compare")]


def test_the_answer_to_another_client_is_no_answer() -> None:
    """Each stream carries the name of its round: equal otherwise, and of equal length."""

    def answered(name: str, told: str) -> Seen:
        frames = (f"data: 1 of {told}\n\n".encode(),)
        return replace(SEEN, name=name, response=replace(ANSWER, frames=frames))

    right = Pair(SCRIPT, (answered("aa", "aa"),), (answered("bb", "bb"),))
    mixed = Pair(SCRIPT, (answered("aa", "aa"),), (answered("bb", "cc"),))
    swapped = Pair(SCRIPT, (answered("a" * 14, "a" * 14),), (answered("b" * 14, "c" * 14),))
    assert list(stream_parallel.judge([right])) == []
    assert len(list(stream_parallel.judge([mixed]))) == 2
    assert list(stream_parallel.judge([swapped])) == [Fail("the body differs from byte 11 on")]


def test_an_interval_holds_the_median_and_grows_with_the_noise() -> None:
    calm, wild = median_interval([1.0, 1.1, 0.9] * 9), median_interval([1.0, 9.0, -7.0] * 9)
    assert calm.low <= calm.median <= calm.high
    assert calm.high - calm.low < wild.high - wild.low
    assert median_interval([2.0]).model_dump() == {"median": 2, "low": 2, "high": 2, "pairs": 1}
    assert median_interval([1.0, 2.0, 5.0]) == median_interval([1.0, 2.0, 5.0])
    with pytest.raises(ValueError, match="no differences"):
        median_interval([])


def recorded(exchange: Exchange | None, seen: Seen = SEEN, end: End = "complete") -> list[str]:
    """The statuses of the checks of a recording: ends, requests, responses."""
    pair = Pair(Script(SCRIPT.rounds, end), (), (seen,))
    found = {} if exchange is None else {"a": exchange}
    return [result.status for result in judge_recording(recorded_checks(), [pair], found)]


def test_a_recording_is_compared_with_what_was_on_the_wire() -> None:
    assert recorded(EXCHANGE) == ["ok", "ok", "ok"]
    assert recorded(None) == ["fail", "ok", "ok"]
    assert recorded(replace(EXCHANGE, end="client_abort")) == ["fail", "ok", "ok"]
    assert recorded(EXCHANGE, end="upstream_eof") == ["fail", "ok", "ok"]
    request, response = EXCHANGE.request, EXCHANGE.response
    assert response is not None
    other = replace(EXCHANGE, request=replace(request, headers=(("Host", "x"),)))
    assert recorded(other) == ["ok", "fail", "ok"]
    assert recorded(replace(EXCHANGE, request=replace(request, body=b"x"))) == ["ok", "fail", "ok"]
    one_chunk = replace(response, chunks=(Chunk(0.1, 3),))
    assert recorded(replace(EXCHANGE, response=one_chunk)) == ["ok", "ok", "fail"]
    assert recorded(replace(EXCHANGE, response=replace(response, status=201)))[2] == "fail"
    assert recorded(replace(EXCHANGE, response=None))[2] == "fail"
    assert recorded(EXCHANGE, replace(SEEN, heard=("hello",)))[2] == "fail"


def test_every_check_says_what_it_proves() -> None:
    """Ids are unique by their making; a check has a script, unless it judges the recording."""
    assert len(all_checks()) >= 17
    assert [check.judge for check in recorded_checks()] == [
        recording_ends.judge,
        recording_requests.judge,
        recording_responses.judge,
    ]
    every: list[Check | RecordedCheck] = [*all_checks(), *recorded_checks()]
    for check in every:
        assert check.doc.endswith(".")
        assert check.proves
    for played in all_checks():
        for script in played.scripts():
            assert script.rounds
    assert all_checks()[-1].late
