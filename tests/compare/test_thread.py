"""Threading: which conversation a turn belongs to, and what it goes on from."""

from hypothesis import given
from hypothesis import strategies as st
from turns import turn

from proxyaudit.compare.kinship import relate
from proxyaudit.compare.thread import Placed, Threader
from proxyaudit.core.message import Message, ToolCall, assistant, system, tool, user
from proxyaudit.core.turn import Turn

S = system("You keep the inventory of a shed.")
LABEL = (("x-session-id", "s-1"),)


def place(*turns: Turn) -> tuple[Threader, list[Placed]]:
    threader = Threader()
    return threader, [threader.place(t) for t in turns]


def groups(*turns: Turn) -> list[list[int]]:
    """The conversations, as numbers of the turns given, retries included."""
    threader, _ = place(*turns)
    number = {t.id: n for n, t in enumerate(turns, 1)}
    return [[number[i] for i in c.exchanges] for c in threader.conversations]


def chat(*words: str) -> list[Message]:
    """user, assistant, user, … with the given texts."""
    return [user(w) if n % 2 == 0 else assistant(w) for n, w in enumerate(words)]


def test_a_growing_history_is_one_conversation() -> None:
    first = turn(S, user("a"), reply=assistant("b"))
    second = turn(S, *chat("a", "b", "c"), reply=assistant("d"))
    third = turn(S, *chat("a", "b", "c", "d", "e"), reply=assistant("f"))
    _, found = place(first, second, third)
    assert groups(first, second, third) == [[1, 2, 3]]
    assert [p.left for p in found] == [None, first, second]


def test_interleaved_agents_with_one_system_prompt_are_kept_apart() -> None:
    assert groups(
        turn(S, user("count north"), reply=assistant("n")),
        turn(S, user("count south"), reply=assistant("s")),
        turn(S, *chat("count south", "s", "go on"), reply=assistant("s2")),
        turn(S, *chat("count north", "n", "go on"), reply=assistant("n2")),
    ) == [[1, 4], [2, 3]]


def test_two_agents_with_the_same_first_message_are_told_apart_by_their_replies() -> None:
    assert groups(
        turn(S, user("hello"), reply=assistant("red")),
        turn(S, user("hello"), reply=assistant("blue")),
        turn(S, *chat("hello", "blue", "more"), reply=assistant("x")),
        turn(S, *chat("hello", "red", "more"), reply=assistant("y")),
    ) == [[1, 4], [2, 3]]


def test_a_retry_is_no_turn() -> None:
    refused = turn(S, user("a"), status=429, error="slow down", finish=None)
    again = turn(S, user("a"), reply=assistant("b"))
    threader, found = place(refused, again)
    assert found[1].repeat
    assert [t.id for t in threader.conversations[0].turns] == [again.id]
    assert threader.conversations[0].exchanges == [refused.id, again.id]


def test_the_same_question_of_two_people_is_two_conversations() -> None:
    assert groups(
        turn(S, user("2 + 2?"), reply=assistant("4")),
        turn(S, user("2 + 2?"), reply=assistant("4")),
    ) == [[1], [2]]


def test_a_lost_history_under_the_same_label_stays_in_its_conversation() -> None:
    assert groups(
        turn(S, user("a"), reply=assistant("b"), headers=LABEL),
        turn(S, *chat("a", "b", "c"), reply=assistant("d"), headers=LABEL),
        turn(S, user("e"), reply=assistant("who are you?"), headers=LABEL),
    ) == [[1, 2, 3]]


def test_without_a_label_a_fresh_start_is_another_conversation() -> None:
    assert groups(
        turn(S, user("a"), reply=assistant("b")),
        turn(S, *chat("a", "b", "c"), reply=assistant("d")),
        turn(S, user("e"), reply=assistant("who are you?")),
    ) == [[1, 2], [3]]


def test_a_message_lost_in_the_middle_goes_on_from_the_newest_turn() -> None:
    """The history is an extension of turn 1 too, but it holds the reply that turn 2 got."""
    second = turn(S, *chat("a", "b", "c"), reply=assistant("d"))
    third = turn(S, user("a"), assistant("b"), assistant("d"), user("e"))
    _, found = place(turn(S, user("a"), reply=assistant("b")), second, third)
    assert found[2].left is second


def test_an_edit_of_an_earlier_message_forks_from_the_turn_before_it() -> None:
    first = turn(S, user("a"), reply=assistant("b"))
    second = turn(S, *chat("a", "b", "c"), reply=assistant("d"))
    third = turn(S, *chat("a", "b", "C!"), reply=assistant("D"))
    _, found = place(first, second, third)
    assert found[2].left is first
    assert found[2].forked


def test_a_title_request_is_a_side_request_even_if_it_comes_first() -> None:
    title = turn(
        system("You write titles."),
        user("Generate a title for this conversation:"),
        user("fix the shed list"),
        reply=assistant("Shed list"),
        headers=LABEL,
    )
    main = turn(S, user("fix the shed list"), reply=assistant("b"), headers=LABEL, tools=["read"])
    more = turn(
        S, *chat("fix the shed list", "b", "c"), reply=assistant("d"), headers=LABEL, tools=["read"]
    )
    threader, _ = place(title, main, more)
    relate(threader.conversations)
    assert [(c.kind, len(c.turns), c.parent) for c in threader.conversations] == [
        ("side", 1, "c2"),
        ("main", 2, None),
    ]


def test_a_summary_request_beside_a_conversation_with_tools_is_a_side_request() -> None:
    first = turn(S, user("a"), reply=assistant("b"), headers=LABEL, tools=["read"])
    chore = turn(
        S, *chat("a", "b", "Summarize the conversation above."), reply=assistant("c"), headers=LABEL
    )
    threader, _ = place(first, chore)
    assert [c.kind for c in threader.conversations] == ["main", "side"]


def test_a_marked_summary_goes_on_in_its_conversation_without_a_label() -> None:
    assert groups(
        turn(S, user("a"), reply=assistant("b")),
        turn(S, *chat("a", "b", "c"), reply=assistant("d")),
        turn(S, user("<summary>They said a and c.</summary>"), user("e"), reply=assistant("f")),
    ) == [[1, 2, 3]]


def test_a_subagent_is_known_by_the_task_in_the_call_that_started_it() -> None:
    task = "Count the files in the folder north."
    call = ToolCall("1", "task", '{"prompt": "' + task + '"}')
    main = turn(S, user("count"), reply=assistant("", call), tools=["task"])
    child = turn(system("You are a helper."), user(task), reply=assistant("3"), tools=["ls"])
    after = turn(
        S, user("count"), assistant("", call), tool("1", "3"), reply=assistant("3"), tools=["task"]
    )
    threader, _ = place(main, child, after)
    relate(threader.conversations)
    assert [(c.kind, c.parent) for c in threader.conversations] == [
        ("main", None),
        ("subagent", "c1"),
    ]


def test_a_fork_under_a_new_label_is_a_conversation_of_its_own_with_a_parent() -> None:
    threader, _ = place(
        turn(S, user("a"), reply=assistant("b"), headers=LABEL),
        turn(S, *chat("a", "b", "c"), reply=assistant("d"), headers=(("x-session-id", "s-2"),)),
    )
    assert [(c.id, c.parent, c.session) for c in threader.conversations] == [
        ("c1", None, "s-1"),
        ("c2", "c1", "s-2"),
    ]


@given(st.lists(st.booleans(), min_size=1, max_size=10))
def test_any_interleaving_of_two_conversations_is_separated(order: list[bool]) -> None:
    histories: dict[bool, list[Message]] = {True: [user("alpha")], False: [user("omega")]}
    expected: dict[bool, list[int]] = {True: [], False: []}
    turns = []
    for number, side in enumerate(order, 1):
        history = histories[side]
        said = assistant(f"{'alpha' if side else 'omega'} {number}")
        turns.append(turn(S, *history, reply=said))
        histories[side] = [*history, said, user(f"next after {number}")]
        expected[side].append(number)
    assert sorted(groups(*turns)) == sorted(g for g in expected.values() if g)


def test_a_subagent_may_share_the_label_and_the_tools_of_its_parent() -> None:
    task = "Count the files in the folder north."
    call = ToolCall("1", "task", '{"prompt": "' + task + '"}')
    main = turn(S, user("count"), reply=assistant("", call), tools=["task"], headers=LABEL)
    other = system("You are a helper that counts, and does nothing else at all.")
    child = turn(other, user(task), reply=assistant("3"), tools=["task"], headers=LABEL)
    threader, _ = place(main, child)
    relate(threader.conversations)
    assert [(c.kind, c.parent) for c in threader.conversations] == [
        ("main", None),
        ("subagent", "c1"),
    ]


def test_a_system_prompt_that_drifted_is_the_same_agent_still() -> None:
    text = "You keep the inventory of a shed, and you answer in one short sentence. Today is "
    assert groups(
        turn(system(text + "Monday."), user("a"), reply=assistant("b"), headers=LABEL, tools=["x"]),
        turn(
            system(text + "Tuesday."), user("c"), reply=assistant("d"), headers=LABEL, tools=["x"]
        ),
    ) == [[1, 2]]
