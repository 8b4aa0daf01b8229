"""cache.never_read"""

from dataclasses import replace
from typing import Any

import pytest
from rules.builders import MESSAGES as DIALECT
from rules.builders import findings, skips, traffic, turn, wire

from proxyaudit.core.message import Message, assistant, system, user
from proxyaudit.core.turn import Turn, Usage

RULE = "cache.never_read"
BOOK = system("Museum handbook. " * 50)
WROTE, READ = Usage(3128, 4, cached=0, written=3120), Usage(3128, 4, cached=3120, written=0)


def asked(at: float, usage: Usage | None = WROTE, *more: Message, **rest: Any) -> Turn:
    return turn(BOOK, user("Lift?"), *more, usage=usage, id=f"t{at}", started_at=at, **rest)


def test_equal_requests_that_write_each_time() -> None:
    found = findings(RULE, traffic(asked(0), asked(4), asked(8)))
    assert [[p.exchange for p in f.places] for f in found] == [["t4", "t8"]]
    assert findings(RULE, traffic(asked(0), asked(4)))


def test_a_growing_conversation() -> None:
    first, second = (assistant("Up."), user("Café?")), (assistant("Left."), user("Shop?"))
    turns = [asked(0), asked(9, WROTE, *first), asked(20, WROTE, *first, *second)]
    assert findings(RULE, traffic(turns))
    assert findings(RULE, traffic(turns[:2])) == []


def test_a_marker_in_the_instructions_is_shared_by_all() -> None:
    def made(number: int) -> Turn:
        mark = {"type": "text", "text": "Book.", "cache_control": {"type": "ephemeral"}}
        body = {
            "model": "m",
            "max_tokens": 9,
            "system": [mark],
            "messages": [{"role": "user", "content": f"Question {number}?"}],
        }
        usage = {"input_tokens": 8, "output_tokens": 4, "cache_creation_input_tokens": 3120}
        reply = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "Up."}],
            "stop_reason": "end_turn",
            "usage": usage | {"cache_read_input_tokens": 0},
        }
        read = wire(body, reply, dialect=DIALECT, id=f"t{number}")
        return later(read, number * 10.0)

    assert findings(RULE, traffic(*(made(n) for n in range(3))))


def later(made: Turn, seconds: float) -> Turn:
    exchange = replace(made.exchange, started_at=made.exchange.started_at + seconds)
    return replace(made, exchange=exchange)


@pytest.mark.parametrize(
    "turns",
    [
        [asked(0), asked(4, READ), asked(8, READ)],
        [asked(0), asked(4, READ), asked(8)],
        [asked(0), asked(0.1), asked(0.2)],
        [asked(0), asked(400), asked(800)],
        [asked(0), asked(4, model="n"), asked(8, model="o")],
        [asked(0), asked(4, tools=["a"]), asked(8, tools=["b"])],
        [asked(0), turn(BOOK, user("Café?"), usage=WROTE, id="x", started_at=4)],
        [asked(n, Usage(3128, 4, cached=0, written=0)) for n in (0, 4, 8)],
        [asked(n, WROTE, user(f"Question {n}")) for n in (0, 4, 8)],
    ],
)
def test_near_miss_read_expired_at_once_or_another_prefix(turns: list[Turn]) -> None:
    assert findings(RULE, traffic(*turns)) == []


def test_replies_that_do_not_tell_are_skipped() -> None:
    turns = [asked(n, Usage(3128, 4, cached=0)) for n in (0, 4, 8)]
    assert skips(RULE, traffic(*turns)) == ["no reply tells what was written to a cache"]
