"""Every fault put at a random place into a random clean conversation is found there.

The faults are applied to the bytes of one request and, where a harness does it, of all that follow;
the suspect has to be right too.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import EXAMPLES, Json, Step, exchange, played, recording, stories

from proxyaudit.core.report import Report
from proxyaudit.engine import audit

type Change = Callable[[list[Json], int], list[Json]]


@dataclass(frozen=True)
class Fault:
    """What is done to the message at an index, where it can be done, and the rules that tell it."""

    rules: tuple[str, ...]
    change: Change
    roles: tuple[str, ...] = ("user", "assistant", "tool")
    needs: str = ""


def drop(messages: list[Json], k: int) -> list[Json]:
    return messages[:k] + messages[k + 1 :]


def rewrite(messages: list[Json], k: int) -> list[Json]:
    text = messages[k]["content"]
    words = text.split()
    return _with(messages, k, content=" ".join([*words[: len(words) // 2], "something", "else"]))


def clear(messages: list[Json], k: int) -> list[Json]:
    return _with(messages, k, content="[result removed]")


def cut(messages: list[Json], k: int) -> list[Json]:
    return _with(messages, k, content=messages[k]["content"][:12])


def double(messages: list[Json], k: int) -> list[Json]:
    return [*messages[: k + 1], copy.deepcopy(messages[k]), *messages[k + 1 :]]


def other_role(messages: list[Json], k: int) -> list[Json]:
    return _with(messages, k, role="assistant" if messages[k]["role"] == "user" else "user")


def other_arguments(messages: list[Json], k: int) -> list[Json]:
    calls = copy.deepcopy(messages[k]["tool_calls"])
    calls[0]["function"]["arguments"] = '{"path": "/etc/other.txt", "mode": "plain"}'
    return _with(messages, k, tool_calls=calls)


def other_id(messages: list[Json], k: int) -> list[Json]:
    """The call and its result are renamed alike: nothing is orphaned."""
    calls = copy.deepcopy(messages[k]["tool_calls"])
    old, calls[0]["id"] = calls[0]["id"], "call_renamed"
    renamed = [
        {**m, "tool_call_id": "call_renamed"} if m.get("tool_call_id") == old else m
        for m in messages
    ]
    return _with(renamed, k, tool_calls=calls)


def _with(messages: list[Json], k: int, **changes: object) -> list[Json]:
    return [*messages[:k], {**messages[k], **changes}, *messages[k + 1 :]]


FAULTS = {
    "drop a user message": Fault(("message.dropped",), drop, ("user",)),
    "drop a reply": Fault(("message.dropped",), drop, ("assistant",), needs="text"),
    "drop a result": Fault(("message.dropped",), drop, ("tool",)),
    "rewrite a user message": Fault(("message.rewritten",), rewrite, ("user",)),
    "rewrite a reply": Fault(("message.rewritten",), rewrite, ("assistant",), needs="text"),
    "clear a result": Fault(("tool.result_cleared",), clear, ("tool",)),
    "cut a result": Fault(("tool.result_cleared",), cut, ("tool",)),
    "double a user message": Fault(("message.duplicated",), double, ("user",)),
    "double a reply": Fault(("message.duplicated",), double, ("assistant",), needs="text"),
    "change the role": Fault(("message.role_changed",), other_role, ("user",)),
    "change arguments": Fault(
        ("tool.arguments_changed",), other_arguments, ("assistant",), needs="tool_calls"
    ),
    "change a call id": Fault(("tool.id_changed",), other_id, ("assistant",), needs="tool_calls"),
    "drop the system prompt": Fault(("system.dropped",), drop, ("system",)),
}


def fits(fault: Fault, message: Json) -> bool:
    if message["role"] not in fault.roles:
        return False
    if fault.needs == "text":
        return isinstance(message["content"], str)
    return not fault.needs or fault.needs in message


def places(fault: Fault, steps: list[Step], *, last: bool) -> list[tuple[int, int]]:
    """(request, message) where the fault fits; for a harness only what was sent before.

    `last`: also the newest messages, which no earlier request or reply holds.
    """
    found = []
    for number, step in enumerate(steps):
        known = len(steps[number - 1].body["messages"]) + 1 if number else 0
        found += [
            (number, k)
            for k, message in enumerate(step.body["messages"])
            if fits(fault, message) and (last or k < known)
        ]
    return found


def told(report: Report, fault: Fault, where: str) -> str:
    """How the report tells the fault at an exchange: the suspect, or what it said instead."""
    for finding in report.findings:
        at = {p.exchange for p in finding.places}
        if finding.rule in fault.rules and finding.severity != "info" and where in at:
            return finding.suspect
    return f"not found: {[(f.rule, f.severity, [p.exchange for p in f.places]) for f in report.findings]}"


@pytest.mark.parametrize("name", FAULTS)
@given(steps=stories(least=3), data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_proxy_does_it(name: str, steps: list[Step], data: st.DataObject) -> None:
    """One request is changed between the taps."""
    fault = FAULTS[name]
    spots = places(fault, steps, last=True)
    if not spots:
        return
    number, k = data.draw(st.sampled_from(spots))
    through = [exchange(s.body, s.reply, n, tap="upstream") for n, s in enumerate(steps)]
    messages = fault.change(copy.deepcopy(steps[number].body["messages"]), k)
    body = {**steps[number].body, "messages": messages}
    through[number] = exchange(body, steps[number].reply, number, tap="upstream")
    report = audit(recording([*played(steps), *through])).report
    assert told(report, fault, f"{number}-upstream") == "proxy"


@pytest.mark.parametrize("name", FAULTS)
@given(steps=stories(least=3), data=st.data())
@settings(max_examples=EXAMPLES)
def test_a_harness_does_it(name: str, steps: list[Step], data: st.DataObject) -> None:
    """From one request on, the history that the harness sends is changed."""
    fault = FAULTS[name]
    spots = places(fault, steps, last=False)
    # The pending message, last of all, is what the user may take back; a role cannot be seen there.
    spots = [(n, k) for n, k in spots if n > 0 and k < len(steps[n].body["messages"]) - 1]
    if not spots:
        return
    number, k = data.draw(st.sampled_from(spots))
    changed = copy.deepcopy(steps)
    for step in changed[number:]:
        step.body["messages"] = fault.change(step.body["messages"], k)
    report = audit(recording(played(changed))).report
    assert told(report, fault, f"{number}-client") == "harness"
