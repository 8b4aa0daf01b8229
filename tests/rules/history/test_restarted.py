"""history.restarted"""

from turns import turn

from proxyaudit.compare.kinship import relate
from proxyaudit.compare.thread import Threader
from proxyaudit.core.message import assistant, system, user
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found
from proxyaudit.rules.history.restarted import restarted

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")
WRITE = user("write the list to a file")
DENIAL = assistant("This looks like the very first message. Which list do you mean?")


def found(*turns: Turn) -> list[Found]:
    threader = Threader()
    for each in turns:
        threader.place(each)
    relate(threader.conversations)
    outcomes = [f for c in threader.conversations for f in restarted(c, Facts())]
    return [f for f in outcomes if isinstance(f, Found)]


def test_a_reply_that_denies_a_history_that_had_been_there() -> None:
    told = found(turn(S, A, reply=B), turn(S, A, B, C, reply=D), turn(S, WRITE, reply=DENIAL))
    assert [f.severity for f in told] == ["warn"]
    assert "c1" in told[0].message


def test_without_a_denial_it_is_told_at_info() -> None:
    told = found(turn(S, A, reply=B), turn(S, A, B, C, reply=D), turn(S, WRITE, reply=B))
    assert [f.severity for f in told] == [None]


def test_near_miss_another_system_prompt() -> None:
    other = system("You write titles.")
    assert found(turn(S, A, reply=B), turn(S, A, B, C, reply=D), turn(other, WRITE, reply=B)) == []


def test_near_miss_an_agent_that_runs_beside_it() -> None:
    first = turn(S, A, reply=B, at=1.0)
    beside = turn(S, WRITE, reply=DENIAL, at=1.2)
    assert found(first, beside, turn(S, A, B, C, reply=D, at=3.0)) == []


def test_near_miss_a_label_tells() -> None:
    labels = [(("x-session-id", name),) for name in ("one", "two")]
    told = found(
        turn(S, A, reply=B, headers=labels[0]),
        turn(S, A, B, C, reply=D, headers=labels[0]),
        turn(S, WRITE, reply=DENIAL, headers=labels[1]),
    )
    assert told == []
