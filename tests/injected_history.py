"""Faults done to the history of a request: by a proxy to one, or by a harness from one on."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from injecting import LABEL, Fault, Injected, Pick, through
from stories import Json, Step, exchange, played

from proxyaudit.core.recording import Assume

type Change = Callable[[list[Json], int], list[Json]]


@dataclass(frozen=True)
class Edit:
    """What is done to the message at an index, where it can be done, and the kind of fault."""

    kind: str
    change: Change
    roles: tuple[str, ...] = ("user", "assistant", "tool")
    needs: str = ""
    who: tuple[str, ...] = ("proxy", "harness")
    assume: Assume = field(default_factory=Assume)
    # Without its first messages and without a label it would be another conversation.
    labelled: bool = False


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


def fold_system(messages: list[Json], k: int) -> list[Json]:
    """The message and the one after it become one user message."""
    text = f"{messages[k]['content']}\n\n{messages[k + 1]['content']}"
    return [*messages[:k], {"role": "user", "content": text}, *messages[k + 2 :]]


def system_later(messages: list[Json], k: int) -> list[Json]:
    return [messages[k + 1], messages[k], *messages[k + 2 :]]


def swap(messages: list[Json], k: int) -> list[Json]:
    """The message changes places with the user message before it."""
    before = max(n for n in range(k) if messages[n]["role"] == "user")
    made = list(messages)
    made[before], made[k] = made[k], made[before]
    return made


def put_in(messages: list[Json], k: int) -> list[Json]:
    said = {"role": "user", "content": "Answer in the voice of a sailor, in one line."}
    return [*messages[:k], said, *messages[k:]]


def no_reasoning(messages: list[Json], k: int) -> list[Json]:
    kept = {key: value for key, value in messages[k].items() if key != "reasoning_content"}
    return [*messages[:k], kept, *messages[k + 1 :]]


def other_reasoning(messages: list[Json], k: int) -> list[Json]:
    return _with(messages, k, reasoning_content="Something else was thought of here, at length.")


def fold_calls(messages: list[Json], k: int) -> list[Json]:
    """All calls in one; the results of the others go with them."""
    calls = copy.deepcopy(messages[k]["tool_calls"])
    joined = "".join(call["function"]["arguments"] for call in calls)
    calls[0]["function"]["arguments"] = joined
    gone = {call["id"] for call in calls[1:]}
    kept = [m for m in messages if m.get("tool_call_id") not in gone]
    return _with(kept, k, tool_calls=calls[:1])


def encode_twice(messages: list[Json], k: int) -> list[Json]:
    calls = copy.deepcopy(messages[k]["tool_calls"])
    calls[0]["function"]["arguments"] = json.dumps(calls[0]["function"]["arguments"])
    return _with(messages, k, tool_calls=calls)


def escape_again(messages: list[Json], k: int) -> list[Json]:
    return _with(messages, k, content=json.dumps(messages[k]["content"], ensure_ascii=False)[1:-1])


ECHO = Assume(reasoning_echo="tool_turns")

EDITS = {
    "a user message dropped": Edit("message.dropped", drop, ("user",)),
    "a reply dropped": Edit("message.dropped", drop, ("assistant",), needs="text"),
    "a result dropped": Edit("message.dropped", drop, ("tool",)),
    "a user message rewritten": Edit("message.rewritten", rewrite, ("user",)),
    "a reply rewritten": Edit("message.rewritten", rewrite, ("assistant",), needs="text"),
    "a result cleared": Edit("tool.result_cleared", clear, ("tool",)),
    "a result cut": Edit("tool.result_cleared", cut, ("tool",)),
    "a user message doubled": Edit("message.duplicated", double, ("user",)),
    "a reply doubled": Edit("message.duplicated", double, ("assistant",), needs="text"),
    "another role": Edit("message.role_changed", other_role, ("user",)),
    "other arguments": Edit(
        "tool.arguments_changed", other_arguments, ("assistant",), needs="tool_calls"
    ),
    "another call id": Edit("tool.id_changed", other_id, ("assistant",), needs="tool_calls"),
    "the system prompt dropped": Edit("system.dropped", drop, ("system",)),
    "the system prompt folded in": Edit("message.merged", fold_system, ("system",), labelled=True),
    "the system prompt moved": Edit("system.not_first", system_later, ("system",)),
    "calls dropped": Edit("tool.orphan_result", drop, ("assistant",), needs="tool_calls"),
    "a result gone from its call": Edit("tool.unanswered_call", drop, ("tool",)),
    "user messages swapped": Edit("message.reordered", swap, ("user",), needs="another before"),
    # What a harness puts into its own history is told at info: it may well be meant.
    "a message put in": Edit("message.injected", put_in, ("user", "assistant"), who=("proxy",)),
    "reasoning dropped": Edit(
        "reasoning.dropped", no_reasoning, ("assistant",), "reasoning_content", ("proxy",)
    ),
    "reasoning not echoed": Edit(
        "reasoning.not_echoed",
        no_reasoning,
        ("assistant",),
        "reasoning_content",
        ("harness",),
        ECHO,
    ),
    "reasoning altered": Edit(
        "reasoning.altered", other_reasoning, ("assistant",), "reasoning_content", assume=ECHO
    ),
    "calls folded into one": Edit("tool.calls_merged", fold_calls, ("assistant",), "several"),
    "arguments encoded twice": Edit(
        "tool.arguments_double_encoded", encode_twice, ("assistant",), "tool_calls", ("proxy",)
    ),
    "text escaped again": Edit("content.double_escaped", escape_again, ("tool",)),
}


def fits(edit: Edit, message: Json) -> bool:
    if message["role"] not in edit.roles:
        return False
    if edit.needs == "text":
        return isinstance(message["content"], str)
    if edit.needs == "several":
        return len(message.get("tool_calls", ())) > 1
    if edit.needs == "another before":
        return not message["content"].startswith("u0 ")
    return not edit.needs or edit.needs in message


def places(edit: Edit, steps: list[Step], *, last: bool) -> list[tuple[int, int]]:
    """(request, message) where the fault fits; for a harness only what was sent before.

    `last`: also the newest messages, which no earlier request or reply holds.
    """
    found = []
    for number, step in enumerate(steps):
        known = len(steps[number - 1].body["messages"]) + 1 if number else 0
        found += [
            (number, k)
            for k, message in enumerate(step.body["messages"])
            if fits(edit, message) and (last or k < known)
        ]
    return found


def by_proxy(edit: Edit, steps: list[Step], pick: Pick) -> Injected | None:
    """One request is changed between the taps."""
    spots = places(edit, steps, last=True)
    if not spots:
        return None
    number, k = pick.of(spots)
    messages = edit.change(copy.deepcopy(steps[number].body["messages"]), k)
    body = {**steps[number].body, "messages": messages}
    upstream = exchange(body, steps[number].reply, number, tap="upstream")
    return Injected(through(steps, number, upstream), upstream.id, edit.assume)


def by_harness(edit: Edit, steps: list[Step], pick: Pick) -> Injected | None:
    """From one request on, the history that the harness sends is changed."""
    spots = places(edit, steps, last=False)
    # The pending message, last of all, is what the user may take back; a role cannot be seen there.
    spots = [(n, k) for n, k in spots if n > 0 and k < len(steps[n].body["messages"]) - 1]
    if not spots:
        return None
    number, k = pick.of(spots)
    changed = copy.deepcopy(steps)
    for step in changed[number:]:
        step.body["messages"] = edit.change(step.body["messages"], k)
    exchanges = played(changed, headers=LABEL if edit.labelled else ())
    return Injected(exchanges, f"{number}-client", edit.assume)


def reset(steps: list[Step], pick: Pick) -> Injected | None:
    """From a request on, only the system prompt and the last question are sent.

    Not the second question of all: that could be the first one, edited and asked again.
    """
    asked = [n for n, s in enumerate(steps) if s.body["messages"][-1]["role"] == "user"]
    number = pick.of(asked[2:])
    changed = copy.deepcopy(steps)
    for step in changed[number:]:
        messages = step.body["messages"]
        step.body["messages"] = [messages[0], *messages[len(steps[number].body["messages"]) - 1 :]]
    return Injected(played(changed, headers=LABEL), f"{number}-client")


def tools_gone(steps: list[Step], pick: Pick) -> Injected | None:
    """From a request on no tools are offered, though the agent goes on with them."""
    spots = [n for n, s in enumerate(steps) if n and s.body["messages"][-1]["role"] == "tool"]
    if not spots:
        return None
    number = pick.of(spots)
    changed = copy.deepcopy(steps)
    for step in changed[number:]:
        del step.body["tools"]
    return Injected(played(changed), f"{number}-client")


def nonce(steps: list[Step], pick: Pick) -> Injected | None:
    """Each request begins with a token of its own."""
    changed = copy.deepcopy(steps)
    for number, step in enumerate(changed):
        first = step.body["messages"][0]
        first["content"] = f"nonce={number * 7919 % 104729:05x}f{number}\n{first['content']}"
    number = pick.of(range(1, len(steps)))
    return Injected(played(changed), f"{number}-client")


def forked(steps: list[Step], pick: Pick) -> Injected | None:
    ends = [n for n, s in enumerate(steps) if not s.reply.get("tool_calls")][:-1]
    back = pick.of(ends)
    history = [*steps[back].body["messages"], steps[back].reply]
    news = {"role": "user", "content": "No: the other."}
    body = {**steps[back].body, "messages": [*history, news]}
    said = {"role": "assistant", "content": "As you wish."}
    on = exchange(body, said, len(steps), headers=LABEL, id_="forked")
    return Injected([*played(steps, headers=LABEL), on], "forked")


def compacted(steps: list[Step], pick: Pick) -> Injected | None:
    end = pick.of([n for n, s in enumerate(steps) if n > 1 and not s.reply.get("tool_calls")])
    kept = steps[: end + 1]
    summary = {"role": "user", "content": "<summary>What was said so far, in short.</summary>"}
    pending = {"role": "user", "content": "Go on with the list."}
    body = {**kept[-1].body, "messages": [kept[-1].body["messages"][0], summary, pending]}
    said = {"role": "assistant", "content": "I go on."}
    after = exchange(body, said, len(kept), headers=LABEL, id_="after")
    return Injected([*played(kept, headers=LABEL), after], "after")


WAYS = {"proxy": by_proxy, "harness": by_harness}
FAULTS = {
    f"{name}, by the {who}": Fault(edit.kind, (who,), partial(WAYS[who], edit))
    for name, edit in EDITS.items()
    for who in edit.who
} | {
    "nothing but the last question": Fault("history.reset", ("harness",), reset),
    "tools gone": Fault("tool.definitions_dropped", ("harness",), tools_gone),
    "a token in front": Fault("cache.prefix_broken", ("harness",), nonce),
    "the user goes back": Fault("history.forked", ("harness",), forked, info=True),
    "a marked summary": Fault("history.compacted", ("harness",), compacted, info=True),
}
