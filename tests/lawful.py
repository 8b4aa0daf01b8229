"""What clients and proxies lawfully do to a conversation, whatever the conversation.

Shared by the tests and by `benchmarks/recall.py`. Each gets a story, another one and a `pick`, and
gives the exchanges, of which nothing must be alarmed.
"""

import copy
import json
from collections.abc import Callable

from injected_streams import frames, longer, streamed
from injecting import LABEL, Pick, ends, through
from stories import Json, Step, exchange, played

from proxyaudit.core.exchange import Exchange, Headers

type Lawful = Callable[[list[Step], list[Step], Pick], list[Exchange]]


def each_message(
    change: Callable[[Json, int], Json | None],
) -> Lawful:
    """Change every message of every request; `change` gets the message and the request's number."""

    def apply(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
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


def retried(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    again = pick.of(range(len(steps)))
    failed = exchange(steps[again].body, {}, again - 0.4, status=503, id_="failed")
    return [*played(steps), failed]


def results_in_another_order(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    changed = copy.deepcopy(steps)
    for number, step in enumerate(changed):
        if number % 2:
            _reverse_results(step.body["messages"])
    return played(changed)


def _reverse_results(messages: list[Json]) -> None:
    start = 0
    while start < len(messages):
        end = start
        while end < len(messages) and messages[end]["role"] == "tool":
            end += 1
        messages[start:end] = reversed(messages[start:end])
        start = max(end, start + 1)


def labels(pick: Pick) -> Headers:
    return pick.of(((), LABEL))


def gone_back(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """The user goes back to an answer and on another way."""
    back = pick.of(ends(steps)[:-1])
    history = [*steps[back].body["messages"], steps[back].reply]
    news = {"role": "user", "content": "No: the other."}
    body = {**steps[back].body, "messages": [*history, news]}
    headers = labels(pick)
    said = {"role": "assistant", "content": "As you wish."}
    return [*played(steps, headers=headers), exchange(body, said, len(steps), headers=headers)]


def compacted(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """A marked summary, with nothing pending."""
    headers = labels(pick)
    system = steps[-1].body["messages"][0]
    summary = {"role": "user", "content": "<summary>What was said so far, in short.</summary>"}
    pending = {"role": "user", "content": "Go on with the list."}
    body = {**steps[-1].body, "messages": [system, summary, pending]}
    said = {"role": "assistant", "content": "I go on."}
    after = exchange(body, said, len(steps), headers=headers)
    return [*played(steps, headers=headers), after]


def interleaved(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """Two conversations without labels, turn and turn about in any order."""
    for step in other:
        step.body["messages"][1]["content"] += " (the other one)"
    left = {True: list(steps), False: list(other)}
    mixed: list[Exchange] = []
    while left[True] or left[False]:
        which = pick.of([side for side, waiting in left.items() if waiting])
        step = left[which].pop(0)
        mixed.append(exchange(step.body, step.reply, len(mixed)))
    return mixed


def titled(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """A title is asked for beside the conversation."""
    chore = [
        {"role": "system", "content": "You write titles."},
        {"role": "user", "content": "Generate a title for this conversation:"},
        steps[0].body["messages"][1],
    ]
    said = {"role": "assistant", "content": "Shed"}
    title = exchange({"model": "m", "messages": chore}, said, -0.2, headers=LABEL)
    return [title, *played(steps, headers=LABEL)]


def sent_on(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """A proxy sends on what it got."""
    return through(steps, -1, None)


def spelt_anew(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """A proxy spells the same in another way."""
    changed = copy.deepcopy(steps)
    for step in changed:
        kept = step.body["messages"]
        step.body["messages"] = [
            respelled(other_key_order(empty_for_null(m, 0), 0), 0) for m in kept
        ]
        step.body["max_completion_tokens"] = step.body.pop("max_tokens")
        step.body["stream_options"] = {"include_usage": True}
    up = [exchange(s.body, s.reply, n, tap="upstream") for n, s in enumerate(changed)]
    return [*played(steps), *up]


def in_streams(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """Answers come in pieces, and pass a proxy as they came."""
    made = []
    for number, step in enumerate(steps):
        sent = frames(step, number)
        made.append(streamed(step, number, sent))
        made.append(streamed(step, number, sent, tap="upstream"))
    return made


def in_one_stream(steps: list[Step], other: list[Step], pick: Pick) -> list[Exchange]:
    """The last answer is longer than the others, at the only tap."""
    number = pick.of(ends(steps))
    made = [streamed(s, n, frames(s, n)) for n, s in enumerate(steps[:number])]
    last = frames(steps[number], number, longer(steps[number]))
    return [*made, streamed(steps[number], number, last)]


LAWFUL: dict[str, Lawful] = {
    "nothing": lambda steps, other, pick: played(steps),
    **{change.__name__.replace("_", " "): each_message(change) for change in MESSAGE_CHANGES},
    "a retry after a failure": retried,
    "results in another order": results_in_another_order,
    "the user goes back": gone_back,
    "a marked summary": compacted,
    "two conversations at a time": interleaved,
    "a title": titled,
    "sent on as it came": sent_on,
    "spelt anew by a proxy": spelt_anew,
    "streams through a proxy": in_streams,
    "streams at one tap": in_one_stream,
}
