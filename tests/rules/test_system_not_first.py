"""system.not_first"""

from dataclasses import replace

from rules.builders import RESPONSES, findings, hop, pointers, skips, turn

from proxyaudit.core.message import assistant, system, user

RULE = "system.not_first"
PLAN, BRIEF = system("You plan trips."), system("Be brief.")


def test_a_late_system_message_is_found() -> None:
    here = turn(PLAN, user("Hello."), BRIEF, user("Two or three?"))
    assert pointers(findings(RULE, here)) == ["/messages/2"]


def test_system_messages_at_the_start_are_lawful() -> None:
    assert findings(RULE, turn(PLAN, BRIEF, user("Two?"), assistant("Two."), user("Why?"))) == []


def test_other_dialects_allow_them_anywhere() -> None:
    here = turn(PLAN, user("Hello."), BRIEF, user("Two?"), dialect=RESPONSES)
    assert skips(RULE, here) == ["this dialect allows instructions anywhere"]


def test_a_late_developer_message_is_information_unless_it_was_refused() -> None:
    developer = replace(BRIEF, raw_role="developer")
    messages = (PLAN, user("Hello."), developer, user("Two?"))
    assert [f.severity for f in findings(RULE, turn(*messages))] == ["info"]
    refused = turn(*messages, reply=None, status=400, error="System message must be first.")
    assert [f.severity for f in findings(RULE, refused)] == [None]


def test_a_translator_that_keeps_the_place_moves_the_fault_upstream() -> None:
    messages = (PLAN, user("Hello."), BRIEF, user("Two?"))
    both = hop(turn(*messages, dialect=RESPONSES), turn(*messages, tap="upstream", id="u"))
    found = findings(RULE, both)
    assert [(p.exchange, p.pointer) for p in found[0].places] == [("u", "/messages/2")]


def test_what_the_harness_sent_late_is_not_the_proxy_s_doing() -> None:
    messages = (PLAN, user("Hello."), BRIEF, user("Two?"))
    assert findings(RULE, hop(turn(*messages), turn(*messages, tap="upstream"))) == []


def test_a_proxy_that_moves_one_back_is_found() -> None:
    left = turn(PLAN, BRIEF, user("Hello."), user("Two?"))
    right = turn(PLAN, user("Hello."), BRIEF, user("Two?"), tap="upstream")
    assert findings(RULE, hop(left, right))
