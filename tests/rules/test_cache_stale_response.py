"""cache.stale_response"""

from dataclasses import replace
from typing import Any

import pytest
from rules.builders import call, findings, pointers, stream_of, traffic, turn

from proxyaudit.core.message import Message, assistant, user
from proxyaudit.core.turn import Turn, Usage

RULE = "cache.stale_response"
NOTED = "Noted: three rakes, one spade."
LONG = "Noted: three rakes, one spade and two watering cans, both of them green."
RAKES, CANS = user("We own three rakes."), user("Now remove the spade.")
HISTORY = [user("word " * 60), assistant("Fine."), CANS]


def said(id_: str, *messages: Message, at: float = 0, reply: Any = NOTED, **more: Any) -> Turn:
    made = turn(*messages, reply=reply, id=f"e{at}", started_at=at, **more)
    assert made.reply
    return replace(made, reply=replace(made.reply, id=id_))


def test_within_a_conversation() -> None:
    turns = [said("r-601", RAKES), said("r-601", RAKES, assistant(NOTED), CANS, at=20)]
    found = findings(RULE, traffic(turns))
    assert pointers(found) == ["/id"]
    assert (found[0].places[0].exchange, found[0].before[0].exchange) == ("e20", "e0")


def test_across_conversations() -> None:
    assert findings(RULE, traffic(said("r-601", RAKES), said("r-601", CANS, at=5)))


def test_streams_and_calls() -> None:
    reply = assistant("", call("a"))
    turns = [
        said("m", m, at=n, reply=reply, stream=stream_of()) for n, m in enumerate([RAKES, CANS])
    ]
    assert pointers(findings(RULE, traffic(*turns))) == ["/stream"]


def test_a_new_id_does_not_hide_it_where_the_counts_tell() -> None:
    usage = Usage(38, 19, 57)
    first = said("r-1", RAKES, reply=LONG, usage=usage)
    found = findings(RULE, traffic([first, said("r-2", *HISTORY, at=9, reply=LONG, usage=usage)]))
    assert [f.confidence for f in found] == ["likely"]


@pytest.mark.parametrize(
    "turns",
    [
        [said("r-1", RAKES), said("r-2", CANS, at=5)],
        [said("r-1", RAKES), said("r-1", RAKES, at=5)],
        [said("r-1", RAKES), said("r-1", CANS, at=5, reply="Removed.")],
        [said("x", RAKES), said("x", CANS, at=5), said("x", user("Hm?"), at=9, reply="Other.")],
        [said("", RAKES), said("", CANS, at=5)],
        [
            said("r-1", RAKES, reply=LONG, usage=Usage(38, 19)),
            said("r-2", *HISTORY, at=5, reply=LONG, usage=Usage(120, 19)),
        ],
        [
            said("r-1", user("Title for A"), reply=LONG, usage=Usage(38, 19)),
            said("r-2", user("Title for B"), at=5, reply=LONG, usage=Usage(38, 19)),
        ],
        [said("r-1", RAKES), said("r-1", CANS, at=5, status=500)],
    ],
)
def test_near_miss_another_id_the_same_request_or_a_constant_id(turns: list[Turn]) -> None:
    assert findings(RULE, traffic(*turns)) == []


def test_the_same_question_to_another_model_or_with_another_limit() -> None:
    first = said("r-601", RAKES, settings={"max_tokens": 60})
    assert findings(RULE, traffic([first, said("r-601", RAKES, at=5, model="n")]))
    assert findings(RULE, traffic([first, said("r-601", RAKES, at=5, settings={"max_tokens": 9})]))
    assert not findings(RULE, traffic([first, said("r-601", RAKES, at=5, settings=SAME)]))


SAME = {"max_tokens": 60, "user": "u-7"}


def test_a_longer_prompt_that_counts_as_many_tokens() -> None:
    usage = Usage(38, 9, 47)
    grown = [RAKES, assistant(NOTED), CANS]
    turns = [said("a", RAKES, usage=usage), said("b", *grown, at=9, usage=usage)]
    assert [f.confidence for f in findings(RULE, traffic(turns))] == ["likely"]
    more = said("b", *grown, at=9, usage=Usage(52, 9, 61))
    assert findings(RULE, traffic([turns[0], more])) == []


@pytest.mark.parametrize(
    ("header", "value", "alarms"),
    [
        ("x-cache", "HIT", 1),
        ("X-Gateway-Cache-Hit", "true", 1),
        ("x-cache", "MISS", 0),
        ("x-prompt-cache", "hit", 0),
    ],
)
def test_a_header_says_that_a_cache_answered(header: str, value: str, alarms: int) -> None:
    second = said("b", CANS, at=9)
    assert second.exchange.response
    response = replace(second.exchange.response, headers=((header, value),))
    second = replace(second, exchange=replace(second.exchange, response=response))
    assert len(findings(RULE, traffic(said("a", RAKES), second))) == alarms
