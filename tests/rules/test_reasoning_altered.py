"""reasoning.altered"""

from rules.builders import (
    CHAT,
    MESSAGES,
    RESPONSES,
    after,
    back,
    call,
    findings,
    hop,
    thought,
    turn,
)

from proxyaudit.core.exchange import Tap
from proxyaudit.core.message import Message, Reasoning, assistant, tool, user
from proxyaudit.core.turn import Turn

RULE = "reasoning.altered"
LOOK = call("t-1", "get_tide")
SIGNED = thought("  Port Arlo.\nI look it up.", "c2ln")


def echoed(given: Reasoning, later: Reasoning, **more: str):  # type: ignore[no-untyped-def]
    left = turn(user("Tide?"), reply=Message("assistant", (given, LOOK)), **more)  # type: ignore[arg-type]
    right = turn(user("Tide?"), Message("assistant", (later, LOOK)), tool("t-1", "2.4 m"), **more)  # type: ignore[arg-type]
    return after(left, right)


def test_white_space_changed_under_a_signature_is_found() -> None:
    found = findings(RULE, echoed(SIGNED, thought("Port Arlo. I look it up.", "c2ln")))
    assert [f.severity for f in found] == [None]
    assert found[0].before[0].side == "client.response"


def test_a_lost_signature_is_found() -> None:
    found = findings(RULE, echoed(SIGNED, thought(SIGNED.text)))
    assert "signature" in found[0].message


def test_the_block_as_it_was_is_lawful() -> None:
    assert findings(RULE, echoed(SIGNED, SIGNED)) == []


def test_two_thoughts_may_change_places() -> None:
    other = thought("Wait.", "b3RoZXI=")
    left = turn(user("Tide?"), reply=Message("assistant", (SIGNED, other, LOOK)))
    right = turn(user("Tide?"), Message("assistant", (other, SIGNED, LOOK)), tool("t-1", "2.4 m"))
    assert findings(RULE, after(left, right)) == []


def test_unsigned_reasoning_is_an_error_only_where_it_is_required() -> None:
    changed = echoed(thought("I look it up."), thought("I guess."))
    assert [f.severity for f in findings(RULE, changed)] == ["info"]
    assert [f.severity for f in findings(RULE, changed, reasoning_echo="tool_turns")] == [None]


def test_white_space_of_unsigned_reasoning_does_not_count() -> None:
    same = echoed(thought(" I look it up.\n"), thought("I look it up."))
    assert findings(RULE, same, reasoning_echo="always") == []


def test_a_proxy_must_not_touch_unsigned_reasoning_in_a_history() -> None:
    def side(text: str) -> tuple[Message, ...]:
        return user("Tide?"), assistant("", LOOK, reasoning=text), tool("t-1", "2.4 m")

    left, right = turn(*side("I look.")), turn(*side("I guess."), tap="upstream")
    assert [f.severity for f in findings(RULE, hop(left, right))] == [None]


def test_a_reply_on_its_way_is_judged_by_its_signature_alone() -> None:
    def reply(given: Reasoning, tap: str):  # type: ignore[no-untyped-def]
        return turn(reply=Message("assistant", (given, LOOK)), tap=tap)  # type: ignore[arg-type]

    signed = back(reply(SIGNED, "upstream"), reply(thought("Port Arlo.", "c2ln"), "client"))
    assert findings(RULE, signed)
    plain = back(reply(thought("I look."), "upstream"), reply(thought("I guess."), "client"))
    assert findings(RULE, plain) == []


def test_a_summary_beside_sealed_reasoning_may_be_left_out() -> None:
    sealed = thought("A summary.", "Z0FBQUE=")
    bare = thought("", "Z0FBQUE=")
    assert findings(RULE, echoed(sealed, bare, dialect=RESPONSES)) == []
    assert findings(RULE, echoed(sealed, bare))


def test_a_translation_has_no_place_for_the_signature() -> None:
    def side(given: Reasoning, dialect: str, tap: Tap) -> Turn:
        said = Message("assistant", (given, LOOK))
        return turn(user("Tide?"), said, tool("t-1", "2.4 m"), dialect=dialect, tap=tap)

    left = side(SIGNED, MESSAGES, "client")
    kept = side(thought(SIGNED.text), CHAT, "upstream")
    assert findings(RULE, hop(left, kept)) == []
    other = side(thought("I guess."), CHAT, "upstream")
    assert len(findings(RULE, hop(left, other))) == 1
