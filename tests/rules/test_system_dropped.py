"""system.dropped"""

from rules.builders import MESSAGES, after, findings, hop, pointers, skips, turn

from proxyaudit.core.message import assistant, system, user

RULE = "system.dropped"
RHYME, NOTE = system("Answer only in rhyme."), system("Skills: stocktake, refunds.")


def test_instructions_that_do_not_arrive_are_found() -> None:
    found = findings(RULE, hop(turn(RHYME, user("Where?")), turn(user("Where?"), tap="upstream")))
    assert pointers(found) == ["/messages"]
    assert found[0].before[0].pointer == "/messages/0"


def test_a_message_in_the_middle_counts() -> None:
    left = turn(RHYME, user("Open."), assistant("Open."), NOTE, user("Skills?"), dialect=MESSAGES)
    right = turn(RHYME, user("Open."), assistant("Open."), user("Skills?"), tap="upstream")
    assert [p.pointer for f in findings(RULE, hop(left, right)) for p in f.before] == [
        "/messages/3"
    ]


def test_emptied_instructions_are_gone() -> None:
    left, right = turn(RHYME, user("Where?")), turn(system(" "), user("Where?"), tap="upstream")
    assert findings(RULE, hop(left, right))


def test_joined_instructions_are_not_gone() -> None:
    left = turn(RHYME, NOTE, user("Where?"))
    one = system("Answer only in rhyme.\n\nSkills: stocktake, refunds.")
    assert findings(RULE, hop(left, turn(one, user("Where?"), tap="upstream"))) == []


def test_instructions_joined_to_the_user_s_words_have_arrived() -> None:
    right = turn(user("Answer only in rhyme.\n\nWhere?"), tap="upstream")
    assert findings(RULE, hop(turn(RHYME, user("Where?")), right)) == []


def test_changed_instructions_are_another_matter() -> None:
    left = turn(system("Diary.\nToday is Monday."), user("Rain?"))
    right = turn(system("Diary.\nToday is Tuesday."), user("Rain?"), tap="upstream")
    assert findings(RULE, hop(left, right)) == []


def test_a_harness_that_forgets_them_in_the_next_turn_is_found() -> None:
    left = turn(RHYME, user("Where?"), reply="By the pier.")
    right = turn(user("Where?"), assistant("By the pier."), user("Which?"))
    assert "harness" in findings(RULE, after(left, right))[0].message
    kept = turn(RHYME, user("Where?"), assistant("By the pier."), user("Which?"))
    assert findings(RULE, after(left, kept)) == []


def test_a_server_that_keeps_the_history_may_keep_them_too() -> None:
    left = turn(RHYME, user("Where?"), reply="By the pier.")
    right = turn(user("Which?"), previous_id="r")
    assert skips(RULE, after(left, right)) == ["the history is kept by the server"]


def test_other_instructions_in_the_next_turn_are_told_at_info() -> None:
    """As when the user changes the mode or the model; a hop has no reason to do so."""
    shown = [user("Rhyme on sea."), assistant("Tea.")]
    left = turn(RHYME, *shown, user("Where?"), reply="By the pier.")
    told = [assistant("By the pier."), user("Which?")]
    other = turn(system("You are a clerk of few words, and count."), user("Where?"), *told)
    assert [f.severity for f in findings(RULE, after(left, other))] == ["info"]
    kept = turn(RHYME, NOTE, user("Where?"), reply="By the pier.")
    less = turn(RHYME, user("Where?"), *told)
    assert [f.severity for f in findings(RULE, after(kept, less))] == [None]
