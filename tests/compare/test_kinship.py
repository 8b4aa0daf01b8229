"""Kinship: side requests without a label, known by whom they serve."""

from turns import turn

from proxyaudit.compare.kinship import relate
from proxyaudit.compare.thread import Threader
from proxyaudit.core.message import ToolCall, assistant, system, tool, user
from proxyaudit.core.turn import Turn

S = system("You keep the inventory of a shed.")
CLERK = system("Put into one line what was done.")


def kinds(*turns: Turn) -> list[tuple[str, int, str | None]]:
    threader = Threader()
    for each in turns:
        threader.place(each)
    relate(threader.conversations)
    return [(c.kind, len(c.turns), c.parent) for c in threader.conversations]


def shed() -> list[Turn]:
    """Two turns without a label; the second user message has a standing instruction behind it."""
    first = (user("three rakes stand there"), assistant("noted"))
    again = user("two more cans came in\n\nAlways answer in one word.")
    return [turn(S, first[0], reply=first[1]), turn(S, *first, again, reply=assistant("added"))]


def clerk(words: str) -> Turn:
    return turn(CLERK, user(words), reply=assistant("More cans"))


def test_a_side_request_quotes_the_latest_words_of_the_user() -> None:
    found = kinds(*shed(), clerk("USER: two more cans came in\n\nASSISTANT: added"))
    assert found == [("main", 2, None), ("side", 1, "c1")]


def test_one_request_under_the_instructions_of_a_side_request_is_one_too() -> None:
    found = kinds(
        *shed(), clerk("Changed: cans"), clerk("USER: two more cans came in\n\nASSISTANT: added")
    )
    assert found == [("main", 2, None), ("side", 1, "c1"), ("side", 1, "c1")]


def test_near_miss_a_request_of_its_own_that_quotes_nobody() -> None:
    found = kinds(*shed(), clerk("How many spades are there in all?"))
    assert found == [("main", 2, None), ("main", 1, None)]


def test_an_agent_with_an_id_of_its_own_serves_the_one_without_in_its_session() -> None:
    mine = (("x-session-id", "s-1"),)
    other = (*mine, ("x-agent-id", "a-7"))
    found = kinds(
        turn(S, user("count the rakes"), reply=assistant("yes"), headers=mine, tools=["count"]),
        turn(CLERK, user("look around"), reply=assistant("three"), headers=other, tools=["count"]),
    )
    assert found == [("main", 1, None), ("subagent", 1, "c1")]


def test_an_agent_that_took_a_copy_of_the_history_with_it_is_a_subagent() -> None:
    """It was sent while the reply to the newest turn was still coming, and holds none of it."""
    call = ToolCall("1", "fork", '{"prompt": "Count the spades in the north."}')
    begun = (user("How is the shed?"), assistant("", call), tool("1", "started"))
    worker = user("You are a worker. Your directive: Count the spades in the north.")
    main = turn(S, *begun[:1], reply=begun[1], at=100.0, tools=["fork", "ls"])
    more = turn(S, *begun, reply=assistant("Wait."), at=101.0, tools=["fork", "ls"])
    child = turn(S, *begun, worker, reply=assistant("Six."), at=101.2, tools=["ls"])
    assert kinds(main, more, child) == [("main", 2, None), ("subagent", 1, "c1")]
    later = turn(S, *begun, worker, reply=assistant("Six."), at=102.0, tools=["ls"])
    assert kinds(main, more, later) == [("main", 3, None)], "one after the other: it went back"
