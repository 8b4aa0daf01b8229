"""Histories that the server keeps are put back from what was recorded."""

import json
from typing import Any

from proxyaudit.compare.chain import Chain
from proxyaudit.core.exchange import Exchange, Request, Response, Tap
from proxyaudit.core.message import assistant, user
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import read_turn
from proxyaudit.engine import audit
from proxyaudit.rules.reading import keeps_history_elsewhere


def asked(
    id_: str, body: dict[str, Any], answer: list[Any] | str, at: float = 0.0, tap: Tap = "client"
) -> Exchange:
    """An exchange over HTTP whose reply has the id `r-ID`."""
    text = {"type": "message", "role": "assistant"}
    output = answer
    if isinstance(answer, str):
        output = [{**text, "content": [{"type": "output_text", "text": answer}]}]
    reply: dict[str, Any] = {
        "id": f"r-{id_}",
        "status": "completed",
        "output": output,
        "model": "m",
    }
    reply["usage"] = {"input_tokens": 9, "output_tokens": 1}
    request = Request(
        "POST", "http://h/v1/responses", (), json.dumps({"model": "m", **body}).encode()
    )
    response = Response(200, (), json.dumps(reply).encode(), ended_at=0.5)
    return Exchange(id_, tap, 100 + at, request, response)


def turns(*exchanges: Exchange) -> list[Turn]:
    chain = Chain()
    read = [read_turn(exchange) for exchange in exchanges]
    return [chain.rebuild(turn) for turn in read if isinstance(turn, Turn)]


ONE = asked("1", {"input": "one", "instructions": "Be terse."}, "first")
TWO = asked("2", {"input": "two", "previous_response_id": "r-1"}, "second", at=1)
THREE = asked("3", {"input": "three", "previous_response_id": "r-2"}, "third", at=2)
WHOLE = [user("one"), assistant("first"), user("two"), assistant("second"), user("three")]


def test_a_chain_is_put_back_from_its_beginning() -> None:
    """The history of the turn before, itself put back, its reply, and what is new."""
    last = turns(ONE, TWO, THREE)[-1].prompt
    assert [m.content for m in last.messages] == [m.content for m in WHOLE]
    assert [m.pointer for m in last.messages] == ["/previous_response_id"] * 4 + ["/input"]
    assert {p.pointer for m in last.messages[:4] for p in m.parts} == {"/previous_response_id"}
    assert last.rebuilt
    assert not keeps_history_elsewhere(last)


def test_instructions_are_not_carried_over_and_stand_first() -> None:
    """As the format says: each request gives its own."""
    again = asked(
        "2", {"input": "two", "instructions": "Rhyme.", "previous_response_id": "r-1"}, "x"
    )
    plain, told = turns(ONE, TWO)[1].prompt, turns(ONE, again)[1].prompt
    assert [m.role for m in plain.messages] == ["user", "assistant", "user"]
    assert [m.text for m in told.messages] == ["Rhyme.", "one", "first", "two"]


def test_an_unknown_reply_leaves_the_turn_as_it_is() -> None:
    """And what goes on from it is as unknown."""
    for turn in turns(TWO, THREE):
        assert len(turn.prompt.messages) == 1
        assert turn.prompt.hides_history
        assert keeps_history_elsewhere(turn.prompt)


def test_a_reply_of_the_other_tap_is_no_evidence() -> None:
    upstream = asked("2", {"input": "two", "previous_response_id": "r-1"}, "x", tap="upstream")
    assert turns(ONE, upstream)[1].prompt.hides_history


def test_two_turns_may_go_on_from_one_reply() -> None:
    other = asked("4", {"input": "four", "previous_response_id": "r-1"}, "fourth")
    assert [m.text for m in turns(ONE, TWO, other)[2].prompt.messages] == ["one", "first", "four"]


def test_histories_share_their_messages() -> None:
    """A long chain costs its new messages only."""
    _, two, three = turns(ONE, TWO, THREE)
    assert all(a is b for a, b in zip(two.prompt.messages[:2], three.prompt.messages, strict=False))


def test_a_chain_is_one_conversation_and_its_tools_pair() -> None:
    call = {"type": "function_call", "call_id": "k", "name": "read", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "k", "output": "text"}
    tools = [{"type": "function", "name": "read", "parameters": {"type": "object"}}]
    first = asked("1", {"input": "read it", "tools": tools}, [call])
    body = {"input": [result], "tools": tools, "previous_response_id": "r-1"}
    second = asked("2", body, "Done.", at=1)
    report = audit(Recording("x", (first, second))).report
    assert [c.exchanges for c in report.conversations] == [["1", "2"]]
    assert report.findings == []
    orphan = next(c for c in report.checked if c.rule == "tool.orphan_result")
    assert orphan.skipped == {}
    lone = audit(Recording("x", (second,))).report
    orphan = next(c for c in lone.checked if c.rule == "tool.orphan_result")
    assert orphan.skipped == {"a part of the history is kept by the server": 1}


def test_a_call_left_without_result_in_a_chain_is_found() -> None:
    """What the server keeps counts: the next request has to answer it."""
    call = {"type": "function_call", "call_id": "k", "name": "read", "arguments": "{}"}
    first = asked("1", {"input": "read it"}, [call])
    second = asked("2", {"input": "Well?", "previous_response_id": "r-1"}, "Done.", at=1)
    report = audit(Recording("x", (first, second))).report
    found = next(f for f in report.findings if f.rule == "tool.unanswered_call")
    assert (found.places[0].exchange, found.places[0].pointer) == ("2", "/previous_response_id")
