"""Alignment: what stands for what, and what changed."""

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.compare.align import Alignment, align
from proxyaudit.core.message import Message, Text, ToolCall, assistant, system, tool, user

TEXTS = st.text(alphabet="abcd ", min_size=1, max_size=12)
MESSAGES = st.lists(
    st.one_of(
        TEXTS.map(user),
        TEXTS.map(assistant),
        st.builds(tool, st.sampled_from(["1", "2"]), TEXTS),
    ),
    max_size=12,
)


def kinds(left: list[Message], right: list[Message]) -> list[str]:
    return [c.kind for c in align(left, right).changes]


A, B, C = user("note three rakes"), assistant("noted, three rakes"), user("add two green cans")
D = assistant("added the cans as you asked")


@given(MESSAGES)
def test_equal_sequences_have_no_change(messages: list[Message]) -> None:
    found = align(messages, messages)
    assert found.changes == ()
    assert found.pairs == tuple((k, k) for k in range(len(messages)))


@given(MESSAGES, MESSAGES)
def test_growth_at_the_end_gives_only_additions_there(
    messages: list[Message], more: list[Message]
) -> None:
    found = align(messages, [*messages, *more])
    assert all(c.kind in ("added", "duplicated") for c in found.changes)
    assert all(c.right.start >= len(messages) for c in found.changes)


@given(MESSAGES, MESSAGES)
def test_every_message_is_accounted_for_once(left: list[Message], right: list[Message]) -> None:
    """Pairs, drops and merges cover the left; pairs, additions and repeats cover the right."""
    found = align(left, right)
    paired_left = [i for i, _ in found.pairs]
    gone = [i for c in found.changes if c.kind == "dropped" for i in c.left]
    folded = {i for c in found.changes if c.kind == "merged" for i in c.left}
    assert len(set(paired_left)) == len(paired_left)
    assert set(paired_left) | set(gone) | folded == set(range(len(left)))
    paired_right = [j for _, j in found.pairs]
    new = [j for c in found.changes if c.kind in ("added", "duplicated") for j in c.right]
    assert sorted(paired_right + new) == list(range(len(right)))


def applied(
    left: list[Message], found: Alignment, brought: dict[int, Message]
) -> dict[int, Message]:
    """Right, by index, made of left and the changes; `brought` is what changes bring along.

    What is equal or moved comes from left, a changed role is put on what left says, a repeat
    repeats; only rewritten, merged and added messages are brought.
    """
    made = {j: left[i] for i, j in found.pairs}
    for change in found.changes:
        for j in change.right:
            if change.kind == "role_changed":
                made[j] = as_role(brought[j], left[change.left.start])
            elif change.kind in ("rewritten", "merged", "added"):
                made[j] = brought[j]
    pairs = dict(found.pairs)
    for change in found.changes:
        if change.kind == "duplicated":
            (j,), twin = change.right, made[pairs[change.left.start]]
            whole = twin.content == brought[j].content
            made[j] = (
                twin if whole else Message(twin.role, (Text(twin.text[: len(brought[j].text)]),))
            )
    return made


def as_role(brought: Message, said: Message) -> Message:
    """What left said, under the other role; a tool result brings or loses the id of its call."""
    if "tool" in (brought.role, said.role):
        assert brought.text == said.text
        return brought
    return Message(brought.role, said.parts)


@st.composite
def edited(draw: st.DrawFn) -> tuple[list[Message], list[Message]]:
    """A history and what some edits made of it: more alike than two that are drawn apart."""
    left = draw(MESSAGES)
    right = list(left)
    for _ in range(draw(st.integers(0, 4))):
        k = draw(st.integers(0, len(right)))
        kind = draw(st.sampled_from(["drop", "add", "role", "move", "repeat", "part", "extend"]))
        one = right[k : k + 1]
        if kind == "add" or not one:
            right[k:k] = [draw(TEXTS.map(user))]
            continue
        text = one[0].text
        made = {
            "drop": [],
            "role": [Message("user", one[0].parts)],
            "repeat": one * 2,
            "part": [Message(one[0].role, (Text(text[: len(text) // 2 + 1]),)), *one],
            "extend": [Message(one[0].role, (Text(f"{text} and {draw(TEXTS)}"),))],
            "move": [],
        }
        right[k : k + 1] = made[kind]
        if kind == "move":
            right.insert(draw(st.integers(0, len(right))), one[0])
    return left, right


@given(st.one_of(edited(), st.tuples(MESSAGES, MESSAGES)))
def test_the_edits_applied_to_left_give_right(both: tuple[list[Message], list[Message]]) -> None:
    """Each right message is made of left by what the alignment says, once, in its place."""
    left, right = both
    found = align(left, right)
    touched = {j for change in found.changes for j in change.right}
    made = applied(left, found, {j: right[j] for j in touched if j < len(right)})
    assert sorted(made) == list(range(len(right)))
    assert [made[j].content for j in range(len(right))] == [m.content for m in right]


@given(MESSAGES, st.data())
def test_one_deletion_in_unlike_messages_is_one_drop(
    messages: list[Message], data: st.DataObject
) -> None:
    unlike = [user(f"{n} " * (3 * n + 3)) for n in range(len(messages) + 1)]
    gone = data.draw(st.integers(0, len(unlike) - 1))
    assert kinds(unlike, unlike[:gone] + unlike[gone + 1 :]) == ["dropped"]


def test_a_small_edit_is_a_rewrite() -> None:
    assert kinds([A, B, C], [A, B, user("add two green and blue cans")]) == ["rewritten"]


def test_two_messages_swapped_are_moved() -> None:
    assert "moved" in kinds([A, B, C, D], [C, B, A, D])
    assert "dropped" not in kinds([A, B, C, D], [C, B, A, D])


def test_results_of_parallel_calls_may_change_places() -> None:
    calls = assistant("", ToolCall("1", "f", "{}"), ToolCall("2", "g", "{}"))
    one, two = tool("1", "first"), tool("2", "second")
    assert kinds([A, calls, one, two, C], [A, calls, two, one, C]) == []


def test_results_of_different_batches_may_not() -> None:
    first, second = assistant("", ToolCall("1", "f", "{}")), assistant("", ToolCall("2", "g", "{}"))
    one, two = tool("1", "first"), tool("2", "second")
    assert kinds([A, first, one, second, two], [A, first, two, second, one]) != []


def test_folding_two_user_messages_is_a_merge_and_the_reply_between_them_is_dropped() -> None:
    folded = user("note three rakes\nadd two green cans")
    assert sorted(kinds([A, B, C], [folded])) == ["dropped", "merged"]


def test_the_same_text_under_another_role_is_a_role_change() -> None:
    assert kinds([system("be brief"), A], [user("be brief"), A]) == ["role_changed"]


def test_a_part_of_a_reply_beside_the_whole_is_a_repeat() -> None:
    part, whole = assistant("noted, three"), assistant("noted, three rakes")
    assert kinds([A, whole, C], [A, part, whole, C]) == ["duplicated"]


def test_short_equal_messages_are_not_mixed_up() -> None:
    yes = user("yes")
    assert kinds([yes, B, yes, D], [yes, B, yes, D, yes]) == ["duplicated"]
    assert kinds([yes, B, yes, D], [yes, B, D]) == ["dropped"]


def test_calls_with_the_same_id_stand_for_each_other_whatever_their_arguments() -> None:
    old = assistant("", ToolCall("1", "f", '{"a": 1}'))
    new = assistant("", ToolCall("1", "f", '{"zzzzzzzzzzzz": "quite another thing"}'))
    assert kinds([A, old], [A, new]) == ["rewritten"]


def test_other_spacing_of_arguments_is_no_change() -> None:
    old = assistant("", ToolCall("1", "f", '{"a": 1, "b": "ä"}'))
    new = assistant("", ToolCall("1", "f", '{"b":"\\u00e4","a":1.0}'))
    assert kinds([A, old], [A, new]) == []


def test_a_system_message_folded_into_a_user_message_is_a_merge() -> None:
    folded = user("you keep a shed\n\nnote three rakes")
    assert kinds([system("you keep a shed"), A, B], [folded, B]) == ["merged"]


def test_something_put_in_front_of_a_short_text_is_a_rewrite() -> None:
    reminded = user("<reminder>" + "do not forget " * 40 + "</reminder> go on")
    assert kinds([A, B, user("go on"), D], [A, B, reminded, D]) == ["rewritten"]


def test_a_long_history_that_was_rewritten_throughout_is_no_loss() -> None:
    left = [user(f"question {n} of many") if n % 2 else assistant(f"reply {n}") for n in range(900)]
    right = [user(m.text.upper()) if m.role == "user" else assistant(m.text + "!") for m in left]
    assert set(kinds(left, right)) == {"rewritten"}


def test_of_calls_alike_the_one_with_the_same_id_is_the_same() -> None:
    """A harness kept the newest of several like calls, and put a summary in front of its text."""
    left, right = [user("Look.")], [user("What was done?")]
    for number in "123":
        call = ToolCall(number, "ls", '{"path": "shed"}')
        left += [assistant("I look.", call), tool(number, "rakes")]
    call = ToolCall("3", "ls", '{"path": "shed"}')
    right += [assistant("Much was seen. I look.", call), tool("3", "rakes"), user("Go on.")]
    assert (5, 1) in align(left, right).pairs
