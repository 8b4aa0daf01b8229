"""A clock that was set back while a recording ran."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.recording import Flaw
from proxyaudit.store.clock import in_order
from proxyaudit.store.lines import to_line
from proxyaudit.store.read import open_recording

EPOCH = 1_790_000_000.0
SAID = [{"role": "user" if n % 2 == 0 else "assistant", "content": f"line {n}"} for n in range(40)]


def asked(
    name: str,
    at: float,
    turns: int,
    *,
    took: float | None = 1.0,
    tap: Tap = "client",
    mark: int = -1,
) -> Exchange:
    """A request with so many turns of one conversation; `mark` bears the cache marker."""
    messages = [dict(m) for m in SAID[: 2 * turns - 1]]
    messages[mark]["cache_control"] = "here"
    body = json.dumps({"model": "m", "messages": messages}).encode()
    request = Request("POST", "http://model.test/v1/chat/completions", (), body)
    answer = Response(200, body=b"{}", ended_at=took) if took is not None else None
    return Exchange(name, tap, EPOCH + at, request, answer)


def order(found: Sequence[Exchange]) -> tuple[str, list[Flaw]]:
    flaws: list[Flaw] = []
    return " ".join(e.id for e in in_order(found, flaws)), flaws


def test_a_conversation_goes_on_in_the_order_of_the_file() -> None:
    found = [asked("a", 100, 1), asked("b", 110, 2), asked("c", 20, 3), asked("d", 30, 4)]
    told, flaws = order(found)
    assert told == "a b c d"
    assert [f.where for f in flaws] == ["exchange c"]
    assert "set back by 91.0 s" in flaws[0].message


def test_times_after_the_step_keep_their_distance() -> None:
    flaws: list[Flaw] = []
    found = in_order([asked("a", 100, 1), asked("b", 20, 2), asked("c", 27, 3)], flaws)
    starts = [e.started_at - EPOCH for e in found]
    assert round(starts[2] - starts[1], 3) == 7
    assert starts[1] > 101


def test_a_step_back_within_the_time_that_a_reply_takes() -> None:
    told, flaws = order([asked("a", 100, 1, took=30), asked("b", 95, 2, took=10)])
    assert told == "a b"
    assert len(flaws) == 1


def test_both_taps_are_moved_together() -> None:
    found = [
        asked("a-up", 100.001, 1, took=0.9, tap="upstream"),
        asked("a", 100, 1),
        asked("b-up", 20.001, 2, took=0.9, tap="upstream"),
        asked("b", 20, 2),
    ]
    told, flaws = order(found)
    assert told == "a a-up b b-up"
    assert len(flaws) == 1


def test_side_requests_may_stand_between() -> None:
    side = replace(asked("t", 21, 1), request=Request("POST", "http://model.test/x", (), b"{}"))
    assert order([asked("a", 100, 2), side, asked("b", 30, 3)])[0] == "a t b"


def test_near_miss_files_put_together_in_another_order_follow_the_clock() -> None:
    """The second file holds the beginning: its requests do not go on from those of the first."""
    found = [asked("c", 120, 3), asked("d", 130, 4), asked("a", 100, 1), asked("b", 110, 2)]
    assert order(found) == ("a b c d", [])


def test_near_miss_exchanges_that_overlap() -> None:
    slow, quick = asked("slow", 100, 1, took=60), asked("quick", 110, 2)
    assert order([quick, slow]) == ("slow quick", [])
    assert order([slow, quick]) == ("slow quick", [])


def test_near_miss_one_that_never_ended_comes_last_in_the_file() -> None:
    assert order([asked("b", 110, 2), asked("a", 100, 3, took=None)]) == ("a b", [])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=12))
def test_lines_in_order_of_end_are_sorted_by_start(made: list[tuple[int, int]]) -> None:
    """As a recorder with a good clock writes them, whatever is in them."""
    found = [asked(str(n), at, 1 + n % 5, took=took) for n, (at, took) in enumerate(made)]
    found.sort(key=lambda e: e.started_at + (e.response.ended_at or 0 if e.response else 0))
    flaws: list[Flaw] = []
    assert in_order(found, flaws) == tuple(sorted(found, key=lambda e: e.started_at))
    assert flaws == []


@given(st.permutations(range(8)))
def test_a_conversation_in_no_order_follows_a_good_clock(mixed: list[int]) -> None:
    found = [asked(str(n), 10.0 * n, n + 1) for n in mixed]
    assert order(found) == ("0 1 2 3 4 5 6 7", [])


def test_a_recording_is_read_that_way(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(map(to_line, [asked("a", 100, 1), asked("b", 20, 2)])))
    recording = open_recording(path)
    assert [e.id for e in recording.exchanges] == ["a", "b"]
    assert len(recording.flaws) == 1
