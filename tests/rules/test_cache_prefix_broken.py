"""cache.prefix_broken"""

import json
from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest
from rules.builders import (
    after,
    ask,
    conversation,
    findings,
    headed,
    pointers,
    turn,
    wire,
)

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import Message, assistant, system, user
from proxyaudit.core.turn import Tool, Turn
from proxyaudit.rules.cache.drift import drift

RULE = "cache.prefix_broken"
READ, WRITE, LIST = (Tool(n, f'{{"description":"{n} a file"}}') for n in ("read", "write", "list"))


def grown(first: list[Message], second: list[Message], **more: Any) -> Comparison:
    """Two turns whose history grew by a reply and a question."""
    left = turn(*first, user("Label for the anchor?"), tools=more.get("before", ()))
    right = turn(
        *second,
        user("Label for the anchor?"),
        assistant("Fine."),
        user("And the bell?"),
        id="2",
        tools=more.get("after", ()),
    )
    return after(left, right)


def severities(comparison: Comparison) -> list[str | None]:
    return [f.severity for f in findings(RULE, comparison)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nonce=36ee5\nYou are a clerk.", "nonce=0aaa9\nYou are a clerk."),
        ("You are a clerk. It is 10:41 now.", "You are a clerk. It is 10:43 now."),
        ("Now: 2026-09-21T10:41:22Z. Clerk.", "Now: 2026-09-21T10:43:02Z. Clerk."),
        ("Request 17 of this session. Clerk.", "Request 18 of this session. Clerk."),
        ("id 8f3b1c2d-1111-4444-8888-123456789abc", "id 8f3b1c2d-1111-4444-8888-00345678ffff"),
        ("[trace: zQ8kL0PqRs12] Be brief.", "[trace: aQ8kL0PqRs99] Be brief."),
        ("Clerk. Free memory: 812 MB.", "Clerk. Free memory: 797 MB."),
        ("Clerk. CPU load 41% now.", "Clerk. CPU load 8% now."),
        ("Clerk. Files: a.txt, b.txt, c.txt.", "Clerk. Files: b.txt, c.txt, a.txt."),
    ],
)
def test_something_new_in_every_request(old: str, new: str) -> None:
    comparison = grown([system(old)], [system(new)])
    assert severities(comparison) == [None]
    assert pointers(findings(RULE, comparison)) == ["/messages/0"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Diary.\nToday is Monday 21 September.", "Diary.\nToday is Tuesday 22 September."),
        ("Date: 2026-09-21", "Date: 2026-09-22"),
        ("Today's date: Wed Sep 30 2026", "Today's date: Thu Oct 1 2026"),
        ("Rules: be brief.", "Rules: be brief, and be kind."),
        ("x-anthropic-billing-header: v=2.1.ab12c", "x-anthropic-billing-header: v=2.1.ff02d"),
    ],
)
def test_a_date_or_new_instructions_are_told_at_info(old: str, new: str) -> None:
    assert severities(grown([system(old)], [system(new)])) == ["info"]


def test_tools_in_another_order() -> None:
    comparison = grown([], [], before=[READ, WRITE, LIST], after=[LIST, READ, WRITE])
    assert severities(comparison) == [None]
    assert pointers(findings(RULE, comparison)) == ["/tools"]


def test_a_tool_defined_anew() -> None:
    other = replace(WRITE, definition='{"description":"write, at 10:41"}')
    assert severities(grown([], [], before=[READ, WRITE], after=[READ, other])) == [None]


def test_keys_of_the_tools_in_another_order() -> None:
    function = {"name": "read", "parameters": {"type": "object", "properties": {}}}
    turned = {"parameters": {"properties": {}, "type": "object"}, "name": "read"}

    def made(tool: dict[str, Any], *more: dict[str, Any], id: str = "1") -> Turn:  # noqa: A002
        messages = [{"role": "user", "content": "Read."}, *more]
        body = ask(messages=messages, tools=[{"type": "function", "function": tool}], stream=False)
        reply = {"choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}]}
        return wire(body, reply, id=id)

    later = ({"role": "assistant", "content": "Fine."}, {"role": "user", "content": "On."})
    assert severities(after(made(function), made(turned, *later, id="2"))) == [None]
    assert severities(after(made(function), made(function, *later, id="2"))) == []


def test_an_early_message_that_is_rewritten() -> None:
    comparison = grown(
        [user("The shed holds three rakes."), assistant("Noted.")],
        [user("The shed holds two rakes."), assistant("Noted.")],
    )
    assert severities(comparison) == ["info"]


def test_a_clock_in_an_early_message() -> None:
    first, second = ([user(f"It is 10:4{n} now. Sweep."), assistant("Yes.")] for n in (1, 7))
    comparison = grown(first, second)
    assert severities(comparison) == [None]
    assert [f.severity for f in findings("message.rewritten", comparison)] == ["info"]


@pytest.mark.parametrize(
    ("before", "after_"),
    [([READ], [READ]), ([], [READ]), ([READ], []), ([READ, WRITE], [READ, WRITE])],
)
def test_near_miss_the_same_tools_or_none(before: list[Tool], after_: list[Tool]) -> None:
    assert severities(grown([system("S.")], [system("S.")], before=before, after=after_)) == []


def test_near_miss_tools_that_came_or_went_are_told_at_info() -> None:
    assert severities(grown([], [], before=[READ, WRITE], after=[LIST, READ, WRITE])) == ["info"]


def test_near_miss_another_model_has_another_cache() -> None:
    comparison = grown([system("nonce=36ee5")], [system("nonce=0aaa9")])
    right = comparison.right
    other = replace(comparison, right=replace(right, prompt=replace(right.prompt, model="n")))
    assert severities(other) == []


def test_near_miss_a_compaction_or_a_rewind() -> None:
    comparison = grown([system("nonce=36ee5")], [system("nonce=0aaa9")])
    assert severities(replace(comparison, compacted=True)) == []
    assert severities(replace(comparison, forked=True)) == []


def test_near_miss_a_note_of_a_known_harness() -> None:
    note = "<system-reminder>Plan only.</system-reminder>"
    left = headed(turn(user(f"Go. {note}"), user("Now.")), user_agent="opencode/1.0")
    right = turn(user("Go."), user("Now."), assistant("Fine."), user("On."), id="2")
    assert severities(after(left, right)) == []


def test_instructions_that_change_again_and_again() -> None:
    tips = ["Tip: oil the hinge.", "Tip: feed the cat.", "Tip: shut the door.", "Tip: be brief."]
    turns = [turn(system(f"Clerk. {tip}"), user("Go."), id=str(n)) for n, tip in enumerate(tips)]
    found = findings(RULE, conversation(*turns))
    assert [(f.severity, len(f.places)) for f in found] == [(None, 3)]
    assert findings(RULE, conversation(*turns[:2])) == []
    assert findings(RULE, conversation(*[turns[0]] * 5, *turns[:2])) == []


def test_drift_of_many_words() -> None:
    assert drift("one two three 10:41", "one four 10:41 and more") == "words"
    assert drift("", "new") == "words"
    assert json.dumps(drift("May 1", "May 2")) == '"date"'


def growing(*instructions: str) -> list[Turn]:
    history: list[Message] = []
    turns = []
    for n, text in enumerate(instructions):
        history += [user(f"Question {n}?")]
        turns.append(turn(system(text), *history, id=f"t{n}"))
        history += [assistant("Fine.")]
    return turns


def test_three_moods_in_three_turns() -> None:
    found = findings(RULE, conversation(*growing("It is calm.", "It blows hard.", "Fog at sea.")))
    assert [[p.exchange for p in f.places] for f in found] == [["t1", "t2"]]


@pytest.mark.parametrize(
    "instructions",
    [
        ["Plan.", "Act."],
        ["Plan only.", "You may act.", "Plan only."],
        ["Calm.", "Windy now.", "Windy now.", "Windy now.", "Windy now.", "Fog at sea."],
        ["Today is Monday.", "Today is Tuesday.", "Today is Wednesday."],
    ],
)
def test_near_miss_a_change_of_mind_or_there_and_back(instructions: list[str]) -> None:
    assert findings(RULE, conversation(*growing(*instructions))) == []


@pytest.mark.parametrize("word", ["a", "1", "1" + "a" * 9, "0a-", "1.", "12:", "T"])
@pytest.mark.parametrize("gap", ["", " "])
def test_a_long_text_is_judged_in_time(word: str, gap: str) -> None:
    old = (word + gap) * (1_000_000 // len(word + gap))
    for new in ("9x" + old, old[::-1]):
        begun = perf_counter()
        drift(old, new)
        assert perf_counter() - begun < 3
