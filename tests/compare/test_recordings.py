"""Two recordings: which turn stands for which, whatever ids the runs made up."""

from hypothesis import given
from hypothesis import strategies as st
from turns import turn

from proxyaudit.compare.recordings import ConversationPair, compare_recordings
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message, ToolCall, assistant, system, tool, user

QUESTIONS = st.lists(st.text("abc ", min_size=1, max_size=6), min_size=1, max_size=5)


def talk(id_: str, questions: list[str], calls: str = "x", answer: str = "ok") -> Conversation:
    """A conversation whose every question is answered after one call of a tool."""
    history: list[Message] = [system("You help.")]
    turns = []
    for number, question in enumerate(questions):
        call = ToolCall(f"{calls}{number}", "look", "{}")
        history += [user(question)]
        turns.append(turn(*history, reply=assistant("", call)))
        history += [assistant("", call), tool(f"{calls}{number}", f"seen {number}")]
        turns.append(turn(*history, reply=assistant(answer)))
        history += [assistant(answer)]
    return Conversation(id_, turns=turns)


def numbers(pair: ConversationPair) -> list[tuple[int | None, int | None]]:
    return [(t.left and t.left[0], t.right and t.right[0]) for t in pair.turns]


@given(QUESTIONS)
def test_the_same_work_with_other_call_ids_is_the_same(questions: list[str]) -> None:
    left, right = talk("a", questions, "call_"), talk("b", questions, "toolu_")
    (pair,) = compare_recordings([left], [right])
    assert numbers(pair) == [(n + 1, n + 1) for n in range(2 * len(questions))]
    assert not any(t.differs for t in pair.turns)


@given(st.permutations(["one", "two", "three", "four"]))
def test_conversations_are_matched_by_what_was_asked_whatever_their_order(
    order: list[str],
) -> None:
    left = [talk(word, [word, "and then"]) for word in ("one", "two", "three", "four")]
    right = [talk(word, [word, "and then"]) for word in order]
    for pair in compare_recordings(left, right):
        assert pair.left
        assert pair.right
        assert pair.left.id == pair.right.id


def test_a_turn_that_only_one_side_has_stands_alone() -> None:
    left, right = talk("a", ["one", "two", "three"]), talk("b", ["one", "two", "three"])
    del right.turns[2]
    (pair,) = compare_recordings([left], [right])
    assert numbers(pair) == [(1, 1), (2, 2), (3, None), (4, 3), (5, 4), (6, 5)]
    assert [t.differs for t in pair.turns] == [False, False, True, False, False, False]


def test_other_answers_and_lost_history_are_differences() -> None:
    left, right = talk("a", ["one", "two"]), talk("b", ["one", "two"], answer="no")
    (pair,) = compare_recordings([left], [right])
    assert [t.differs for t in pair.turns] == [False, True, True, True]
    second = pair.turns[1]
    assert second.prompt
    assert second.reply
    assert not second.prompt.changes
    assert [c.kind for c in second.reply.changes] == ["rewritten"]


def test_what_has_nothing_in_common_is_no_pair_unless_nothing_else_is_left() -> None:
    """One main conversation against one: the user wants to see them beside each other."""
    (alone,) = compare_recordings([talk("a", ["one"])], [talk("b", ["two"])])
    assert alone.left
    assert alone.right
    many = compare_recordings([talk("a", ["one"]), talk("c", ["six"])], [talk("b", ["two"])])
    # The questions differ, but the results of the tools are the same.
    assert sum(bool(p.left and p.right) for p in many) == 1
    assert len(many) == 2


def test_turns_without_a_reply_are_compared_by_what_they_asked() -> None:
    left = Conversation("a", turns=[turn(user("one"))])
    right = Conversation("b", turns=[turn(user("one"), reply=assistant("hi"))])
    (pair,) = compare_recordings([left], [right])
    assert pair.turns[0].differs
    assert pair.turns[0].reply
    assert [c.kind for c in pair.turns[0].reply.changes] == ["added"]


def test_empty_sides() -> None:
    assert compare_recordings([], []) == []
    only = talk("a", ["one"])
    assert compare_recordings([only], []) == [ConversationPair(only, None)]
    assert compare_recordings([], [only]) == [ConversationPair(None, only)]
