"""message.dropped"""

from comparing import across_hop, across_turns
from inline_snapshot import snapshot
from turns import turn

from proxyaudit.core.message import assistant, system, user

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")
NAME = "message.dropped"


def test_a_user_message_gone_from_the_middle() -> None:
    found = across_turns(
        NAME,
        turn(S, A, B, C, reply=D, id="two"),
        turn(S, A, B, D, user("how many?"), id="three"),
    )
    assert [f.message for f in found] == snapshot(
        ["the harness lost 1 of 5 messages since the last turn: user message “add two cans”"]
    )
    assert found[0].before[0].pointer == "/messages/3"
    assert found[0].places[0].exchange == "three"


def test_a_reply_never_sent_back() -> None:
    found = across_turns(NAME, turn(S, A, reply=B), turn(S, A, C))
    assert [f.message for f in found] == snapshot(
        ["the harness did not send the reply back: assistant message “noted”"]
    )
    assert found[0].before[0].pointer == "/choices/0/message"


def test_messages_gone_between_the_taps() -> None:
    found = across_hop(NAME, turn(S, A, B, C), turn(S, C, tap="upstream"))
    assert [f.message for f in found] == snapshot(
        ["the proxy lost 2 of 4 messages between the taps"]
    )
    assert found[0].evidence["lost"] == 2


def test_a_pending_request_lost_in_a_compaction() -> None:
    found = across_turns(
        NAME,
        turn(S, A, B, C, reply=D),
        turn(S, A, B, C, D, user("write it to a file"), status=400, finish=None),
        turn(S, user("<summary>rakes and cans</summary>")),
    )
    assert [f.message for f in found] == snapshot(
        ["the harness compacted the history and lost the pending user message “write it to a file”"]
    )


def test_growth_is_no_loss() -> None:
    assert across_turns(NAME, turn(S, A, reply=B), turn(S, A, B, C)) == []


def test_near_miss_the_reply_of_a_broken_turn_need_not_come_back() -> None:
    broken = turn(S, A, reply=B, status=500, finish=None)
    assert across_turns(NAME, broken, turn(S, A, C)) == []


def test_near_miss_the_user_went_back() -> None:
    assert (
        across_turns(
            NAME,
            turn(S, A, reply=B),
            turn(S, A, B, C, reply=D),
            turn(S, A, B, user("add one blue can")),
        )
        == []
    )


def test_near_miss_an_empty_reply_may_be_left_out() -> None:
    silent = turn(S, A, reply=assistant("", reasoning="hm"))
    assert across_turns(NAME, silent, turn(S, A, C)) == []
