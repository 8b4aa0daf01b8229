"""reasoning.dropped"""

from rules.builders import back, call, findings, hop, pointers, thought, turn

from proxyaudit.core.json import JSON
from proxyaudit.core.message import Message, ToolCall, assistant, tool, user

RULE = "reasoning.dropped"


def history(reasoning: str, *calls: ToolCall) -> tuple[Message, ...]:
    results = tuple(tool(c.id, "2.4 m") for c in calls)
    return (user("Tide?"), assistant("", *calls, reasoning=reasoning), *results)


LOOK = call("t-9", "get_tide")


def test_reasoning_that_the_proxy_took_out_of_the_history_is_found() -> None:
    found = findings(
        RULE, hop(turn(*history("Look it up.", LOOK)), turn(*history("", LOOK), tap="upstream"))
    )
    assert pointers(found) == ["/messages/1"]
    assert found[0].before[0].pointer == "/messages/1/reasoning_content"


def test_reasoning_on_both_sides_is_lawful() -> None:
    same = history("Look it up.", LOOK)
    assert findings(RULE, hop(turn(*same), turn(*same, tap="upstream"))) == []


def test_a_family_that_forbids_it_may_have_it_stripped() -> None:
    both = hop(turn(*history("Look.", LOOK)), turn(*history("", LOOK), tap="upstream"))
    assert findings(RULE, both, reasoning_echo="forbidden") == []


def test_a_family_that_wants_it_beside_calls_alone_may_lose_the_rest() -> None:
    left, right = history("No need to look."), history("")
    left, right = (*left, user("Thanks.")), (*right, user("Thanks."))
    both = hop(turn(*left), turn(*right, tap="upstream"))
    assert findings(RULE, both, reasoning_echo="tool_turns") == []
    assert findings(RULE, both)


def test_a_sealed_thought_counts() -> None:
    sealed = Message("assistant", (thought("", "c2ln"), LOOK))
    left = turn(user("Tide?"), sealed, tool("t-9", "2.4 m"))
    right = turn(user("Tide?"), assistant("", LOOK), tool("t-9", "2.4 m"), tap="upstream")
    assert findings(RULE, hop(left, right))


def test_reasoning_taken_out_of_the_reply_is_found() -> None:
    upstream = turn(reply=assistant("Yes.", reasoning="2.4 is enough."), tap="upstream", id="u")
    found = findings(RULE, back(upstream, turn(reply="Yes.", id="c")))
    assert [(p.exchange, p.side) for p in found[0].places] == [("c", "client.response")]


def test_a_client_may_ask_for_none() -> None:
    upstream = turn(reply=assistant("Yes.", reasoning="2.4 is enough."), tap="upstream")
    wishes: list[dict[str, JSON]] = [
        {"include_reasoning": False},
        {"reasoning": {"exclude": True}},
    ]
    for wish in wishes:
        assert findings(RULE, back(upstream, turn(reply="Yes.", settings=wish))) == []


def test_reasoning_folded_into_the_text_is_not_gone() -> None:
    upstream = turn(reply=assistant("Yes.", reasoning="2.4 is enough."), tap="upstream")
    assert findings(RULE, back(upstream, turn(reply="<think>2.4 is enough.</think>Yes."))) == []
