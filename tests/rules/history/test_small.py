"""message.duplicated, .merged, .role_changed, .reordered, .injected, history.compacted, .forked"""

from comparing import LABEL, across_hop, across_turns
from inline_snapshot import snapshot
from turns import turn

from proxyaudit.core.message import ToolCall, assistant, system, tool, user
from proxyaudit.rules.base import Found

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")


def messages(found: list[Found]) -> list[str]:
    return [f.message for f in found]


def test_a_half_reply_beside_the_whole() -> None:
    whole = assistant("The shed holds three rakes, one spade and two cans.")
    half = assistant("The shed holds three rakes,")
    found = across_turns("message.duplicated", turn(S, A, reply=whole), turn(S, A, half, whole, C))
    assert messages(found) == snapshot(
        [
            "the harness sent the assistant message “The shed holds three rakes,” in part, beside the whole of it"
        ]
    )


def test_a_reply_sent_back_twice_at_the_end() -> None:
    assert across_turns("message.duplicated", turn(S, A, reply=B), turn(S, A, B, B, C))


LONG = user("add two cans, both of them green")


def test_a_user_message_put_behind_itself_after_a_failure() -> None:
    """The retry appended the message to a history that held it already."""
    found = across_turns(
        "message.duplicated",
        turn(S, A, B, LONG, status=503, error="overloaded"),
        turn(S, A, B, LONG, LONG),
    )
    assert [f.places[0].pointer for f in found] == ["/messages/4"]
    assert "twice in a row" in found[0].message


def test_a_new_user_message_sent_twice() -> None:
    assert across_turns("message.duplicated", turn(S, A, reply=B), turn(S, A, B, LONG, LONG))


def test_near_miss_a_few_words_typed_again_after_a_failure() -> None:
    again = user("go on")
    failed = turn(S, A, B, again, status=503, error="overloaded")
    assert across_turns("message.duplicated", failed, turn(S, A, B, again, again)) == []


def test_near_miss_a_user_may_say_the_same_again() -> None:
    assert across_turns("message.duplicated", turn(S, A, reply=B), turn(S, A, B, A)) == []


def test_a_message_twice_across_the_hop() -> None:
    assert across_hop("message.duplicated", turn(S, A, B, C), turn(S, A, A, B, C, tap="upstream"))


def test_user_messages_folded_into_one() -> None:
    folded = user("three rakes\nadd two cans")
    found = across_hop("message.merged", turn(S, A, B, C), turn(S, folded, tap="upstream"))
    assert messages(found) == snapshot(["the proxy folded 2 user messages into one"])


def test_near_miss_a_message_that_quotes_another_is_not_merged() -> None:
    quoting = user("You said: noted. And I said: three rakes. Why?")
    assert across_turns("message.merged", turn(S, A, reply=B), turn(S, A, B, quoting)) == []


def test_a_developer_message_sent_on_as_user() -> None:
    found = across_hop(
        "message.role_changed", turn(S, A), turn(user("You keep a shed."), A, tap="upstream")
    )
    assert messages(found) == snapshot(["the proxy turned a system message into a user message"])


def test_a_tool_result_sent_on_as_words_of_the_user() -> None:
    called = assistant("", ToolCall("k-1", "read_file", "{}"))
    left = turn(S, A, called, tool("k-1", "rake x3"), tools=["read_file"])
    right = turn(S, A, called, user("rake x3"), tap="upstream", tools=["read_file"])
    found = across_hop("message.role_changed", left, right)
    assert messages(found) == snapshot(["the proxy turned a tool message into a user message"])
    assert across_hop("message.dropped", left, right) == []
    assert across_hop("message.injected", left, right) == []


def test_near_miss_the_same_roles() -> None:
    assert across_hop("message.role_changed", turn(S, A), turn(S, A, tap="upstream")) == []


def test_messages_in_another_order() -> None:
    found = across_hop(
        "message.reordered", turn(S, A, B, C, D), turn(S, C, D, A, B, tap="upstream")
    )
    assert len(found) == 1
    assert found[0].severity is None


def test_near_miss_parallel_results_in_another_order() -> None:
    calls = assistant("", ToolCall("1", "f", "{}"), ToolCall("2", "g", "{}"))
    one, two = tool("1", "first"), tool("2", "second")
    client, upstream = turn(A, calls, one, two), turn(A, calls, two, one, tap="upstream")
    assert across_hop("message.reordered", client, upstream) == []


def test_near_miss_a_system_message_moved_to_the_front_is_info() -> None:
    found = across_hop("message.reordered", turn(A, B, S, C), turn(S, A, B, C, tap="upstream"))
    assert [f.severity for f in found] == ["info"]


def test_a_prompt_put_in_by_the_proxy() -> None:
    found = across_hop(
        "message.injected", turn(S, A), turn(system("Be safe."), S, A, tap="upstream")
    )
    assert messages(found) == snapshot(
        ["the proxy added 1 message of its own: system message “Be safe.”"]
    )


def test_near_miss_what_a_turn_adds_at_its_end_is_growth() -> None:
    assert across_turns("message.injected", turn(S, A, reply=B), turn(S, A, B, C)) == []


def test_a_marked_summary_is_told() -> None:
    found = across_turns(
        "history.compacted",
        turn(S, A, B, C, reply=D, headers=LABEL),
        turn(S, user("<summary>three rakes, two cans</summary>"), user("go on"), headers=LABEL),
    )
    assert messages(found) == snapshot(["the harness compacted 4 messages into a summary"])


def test_near_miss_talk_of_a_summary_that_only_grows_is_no_compaction() -> None:
    more = user("Give me a summary of the conversation.")
    assert across_turns("history.compacted", turn(S, A, reply=B), turn(S, A, B, more)) == []


def test_going_back_is_told() -> None:
    found = across_turns(
        "history.forked",
        turn(S, A, reply=B),
        turn(S, A, B, C, reply=D),
        turn(S, A, B, user("add one blue can")),
    )
    assert messages(found) == snapshot(
        ["the conversation went back and on from an earlier point: user message “add one blue can”"]
    )


def test_near_miss_going_on_is_no_fork() -> None:
    assert across_turns("history.forked", turn(S, A, reply=B), turn(S, A, B, C)) == []


def test_a_summary_asked_for_in_the_conversation_comes_back_under_another_role() -> None:
    summary = "So far we counted three rakes, one spade and two cans in the shed."
    found = across_turns(
        "history.compacted",
        turn(
            *(S, A, B, user("Summarize the conversation so far.")),
            reply=assistant(summary),
            headers=LABEL,
        ),
        turn(S, user(summary), user("go on"), headers=LABEL),
    )
    assert len(found) == 1
