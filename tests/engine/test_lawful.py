"""What clients lawfully do to a conversation must not be alarmed, whatever the conversation."""

import copy
import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import EXAMPLES, Json, Step, exchange, played, recording, stories

from proxyaudit.core.exchange import Exchange
from proxyaudit.engine import audit

LABEL = (("x-session-id", "s-1"),)


def alarms(exchanges: list[Exchange]) -> list[str]:
    report = audit(recording(exchanges)).report
    assert report.flaws == []
    return [f"{f.rule}: {f.message}" for f in report.findings if f.severity != "info"]


def each_message(
    change: Callable[[Json, int], Json | None],
) -> Callable[[list[Step]], list[Exchange]]:
    """Change every message of every request; `change` gets the message and the request's number."""

    def apply(steps: list[Step]) -> list[Exchange]:
        changed = copy.deepcopy(steps)
        for number, step in enumerate(changed):
            kept = [change(message, number) for message in step.body["messages"]]
            step.body["messages"] = [m for m in kept if m is not None]
        return played(changed)

    return apply


def as_parts(message: Json, number: int) -> Json:
    """A string in one request, one text part in the next."""
    if number % 2 and isinstance(message["content"], str) and message["role"] != "tool":
        return {**message, "content": [{"type": "text", "text": message["content"]}]}
    return message


def with_cache_marks(message: Json, number: int) -> Json:
    if not isinstance(message["content"], str) or message["role"] == "tool":
        return message
    part: Json = {"type": "text", "text": message["content"]}
    if (len(message["content"]) + number) % 2:
        part["cache_control"] = {"type": "ephemeral"}
    return {**message, "content": [part]}


def respelled(message: Json, number: int) -> Json:
    """Other key order, spacing and escapes in arguments; an index in each call."""
    if "tool_calls" not in message:
        return message
    calls = []
    for index, call in enumerate(message["tool_calls"]):
        value = json.loads(call["function"]["arguments"])
        raw = json.dumps(dict(reversed(value.items())), separators=(",", ":")).replace("/", "\\/")
        function = {**call["function"], "arguments": raw}
        calls.append({**call, "index": index, "function": function})
    return {**message, "tool_calls": calls}


def empty_for_null(message: Json, number: int) -> Json:
    return {**message, "content": ""} if message["content"] is None else message


def no_content(message: Json, number: int) -> Json:
    return {k: v for k, v in message.items() if not (k == "content" and v is None)}


def without_reasoning(message: Json, number: int) -> Json:
    return {k: v for k, v in message.items() if k != "reasoning_content"}


def other_key_order(message: Json, number: int) -> Json:
    return dict(reversed(message.items()))


def as_developer(message: Json, number: int) -> Json:
    return {**message, "role": "developer"} if message["role"] == "system" else message


def other_date(message: Json, number: int) -> Json:
    """The date in the system prompt changes once, in the middle of the conversation."""
    if message["role"] != "system":
        return message
    day = "Monday" if number < 2 else "Tuesday"
    return {**message, "content": f"{message['content']}\nToday is {day}, 1 December."}


def same_id_order(message: Json, number: int) -> Json:
    return {**message, "id": f"msg_{number}"} if message["role"] == "assistant" else message


MESSAGE_CHANGES = [
    as_parts,
    with_cache_marks,
    respelled,
    empty_for_null,
    no_content,
    without_reasoning,
    other_key_order,
    as_developer,
    other_date,
    same_id_order,
]


@pytest.mark.parametrize("change", MESSAGE_CHANGES)
@given(stories())
@settings(max_examples=EXAMPLES)
def test_another_shape_of_the_same_messages(
    change: Callable[[Json, int], Json], steps: list[Step]
) -> None:
    assert alarms(each_message(change)(steps)) == []


@given(stories(), st.data())
@settings(max_examples=EXAMPLES)
def test_retries_after_a_failure(steps: list[Step], data: st.DataObject) -> None:
    again = data.draw(st.integers(0, len(steps) - 1))
    failed = exchange(steps[again].body, {}, again - 0.4, status=503, id_="failed")
    assert alarms([*played(steps), failed]) == []


@given(stories())
@settings(max_examples=EXAMPLES)
def test_results_of_parallel_calls_in_another_order(steps: list[Step]) -> None:
    changed = copy.deepcopy(steps)
    for number, step in enumerate(changed):
        if number % 2:
            _reverse_results(step.body["messages"])
    assert alarms(played(changed)) == []


def _reverse_results(messages: list[Json]) -> None:
    start = 0
    while start < len(messages):
        end = start
        while end < len(messages) and messages[end]["role"] == "tool":
            end += 1
        messages[start:end] = reversed(messages[start:end])
        start = max(end, start + 1)


@given(stories(least=3), st.booleans(), st.data())
@settings(max_examples=EXAMPLES)
def test_the_user_goes_back_and_on_another_way(
    steps: list[Step], labelled: bool, data: st.DataObject
) -> None:
    ends = [n for n, s in enumerate(steps) if not s.reply.get("tool_calls")][:-1]
    back = data.draw(st.sampled_from(ends))
    history = [*steps[back].body["messages"], steps[back].reply]
    body = {
        **steps[back].body,
        "messages": [*history, {"role": "user", "content": "No: the other."}],
    }
    headers = LABEL if labelled else ()
    told = played(steps, headers=headers)
    on = exchange(
        body, {"role": "assistant", "content": "As you wish."}, len(steps), headers=headers
    )
    assert alarms([*told, on]) == []


@given(stories(least=2), st.booleans())
@settings(max_examples=EXAMPLES)
def test_a_marked_compaction_with_nothing_pending(steps: list[Step], labelled: bool) -> None:
    headers = LABEL if labelled else ()
    system = steps[-1].body["messages"][0]
    summary = {"role": "user", "content": "<summary>What was said so far, in short.</summary>"}
    pending = {"role": "user", "content": "Go on with the list."}
    body = {**steps[-1].body, "messages": [system, summary, pending]}
    reply = {"role": "assistant", "content": "I go on."}
    after = exchange(body, reply, len(steps), headers=headers)
    assert alarms([*played(steps, headers=headers), after]) == []


@given(stories(), stories(), st.data())
@settings(max_examples=EXAMPLES)
def test_two_conversations_interleaved_without_labels(
    one: list[Step], two: list[Step], data: st.DataObject
) -> None:
    for step in two:
        step.body["messages"][1]["content"] += " (the other one)"
    times = data.draw(st.permutations(range(len(one) + len(two))))
    first, second = sorted(times[: len(one)]), sorted(times[len(one) :])
    mixed = [exchange(s.body, s.reply, at) for s, at in zip(one, first, strict=True)]
    mixed += [exchange(s.body, s.reply, at) for s, at in zip(two, second, strict=True)]
    audited = audit(recording(mixed))
    threads = sorted(len(c.exchanges) for c in audited.conversations)
    assert threads == sorted([len(one), len(two)])
    assert [f.rule for f in audited.report.findings if f.severity != "info"] == []


@given(stories())
@settings(max_examples=EXAMPLES)
def test_a_title_request_beside_it(steps: list[Step]) -> None:
    asked = steps[0].body["messages"][1]
    chore = [
        {"role": "system", "content": "You write titles."},
        {"role": "user", "content": "Generate a title for this conversation:"},
        asked,
    ]
    title = exchange(
        {"model": "small", "messages": chore},
        {"role": "assistant", "content": "Shed"},
        -0.2,
        headers=LABEL,
    )
    audited = audit(recording([title, *played(steps, headers=LABEL)]))
    assert sorted(c.kind for c in audited.conversations) == ["main", "side"]
    report = audited.report
    # The model asked for the title may answer under its own name.
    assert [f.rule for f in report.findings if f.severity != "info"] in ([], ["model.substituted"])


@given(stories())
@settings(max_examples=EXAMPLES)
def test_a_proxy_that_sends_on_what_it_got(steps: list[Step]) -> None:
    through = [exchange(s.body, s.reply, n, tap="upstream") for n, s in enumerate(steps)]
    assert alarms([*played(steps), *through]) == []


@given(stories())
@settings(max_examples=EXAMPLES)
def test_a_proxy_that_spells_the_same_in_another_way(steps: list[Step]) -> None:
    changed = copy.deepcopy(steps)
    for step in changed:
        kept = step.body["messages"]
        step.body["messages"] = [
            respelled(other_key_order(empty_for_null(m, 0), 0), 0) for m in kept
        ]
        step.body["max_completion_tokens"] = step.body.pop("max_tokens")
        step.body["stream_options"] = {"include_usage": True}
    through = [exchange(s.body, s.reply, n, tap="upstream") for n, s in enumerate(changed)]
    assert alarms([*played(steps), *through]) == []
