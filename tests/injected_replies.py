"""Faults in what a server answers, seen at one tap, and of a proxy that changes the answer."""

import copy
import json
from collections.abc import Callable, Sequence
from functools import partial

from injecting import Fault, Injected, Pick, answered, calling, ends, through
from stories import Json, Step, exchange, played

type Alter = Callable[[Json], object]

SERVER = ("server", "upstream", "model")


def altered(steps: Sequence[Step], number: int, alter: Alter) -> Injected:
    """The answer of one step is altered outside of its message, at the only tap."""
    made = played(steps)
    step = steps[number]
    made[number] = exchange(step.body, step.reply, number, alter=alter)
    return Injected(made, made[number].id)


def anywhere(alter: Alter, steps: list[Step], pick: Pick) -> Injected:
    return altered(steps, pick.of(range(len(steps))), alter)


def said(change: Callable[[Json], Json], steps: list[Step], pick: Pick) -> Injected:
    """The message of a text answer is another one, and stays so in the history."""
    number = pick.of(ends(steps))
    told = answered(steps, number, change(copy.deepcopy(steps[number].reply)))
    return Injected(played(told), f"{number}-client")


def called(change: Callable[[Json], object], steps: list[Step], pick: Pick) -> Injected | None:
    """The first call of an answer is another one; the conversation ends there."""
    spots = calling(steps)
    if not spots:
        return None
    number = pick.of(spots)
    reply = copy.deepcopy(steps[number].reply)
    change(reply["tool_calls"][0])
    return Injected(played(answered(steps, number, reply, on=False)), f"{number}-client")


def function(**fields: str) -> Callable[[Json], object]:
    return lambda call: call["function"].update(fields)


def torn(call: Json) -> None:
    call["function"]["arguments"] = call["function"]["arguments"][:-4]


def encoded(call: Json) -> None:
    call["function"]["arguments"] = json.dumps(call["function"]["arguments"])


def used_id(steps: list[Step], pick: Pick) -> Injected | None:
    """A call bears the id of an earlier one."""
    spots = calling(steps)[1:]
    if not spots:
        return None
    number = pick.of(spots)
    reply = copy.deepcopy(steps[number].reply)
    reply["tool_calls"][0]["id"] = steps[calling(steps)[0]].reply["tool_calls"][0]["id"]
    return Injected(played(answered(steps, number, reply, on=False)), f"{number}-client")


def as_markup(steps: list[Step], pick: Pick) -> Injected | None:
    spots = calling(steps)
    if not spots:
        return None
    number = pick.of(spots)
    call = steps[number].reply["tool_calls"][0]["function"]
    inner = json.dumps({"name": call["name"], "arguments": json.loads(call["arguments"])})
    reply = {"role": "assistant", "content": f"<tool_call>\n{inner}\n</tool_call>"}
    return Injected(played(answered(steps, number, reply, on=False)), f"{number}-client")


def plain_finish(steps: list[Step], pick: Pick) -> Injected | None:
    spots = calling(steps)
    if not spots:
        return None
    return altered(steps, pick.of(spots), lambda a: a["choices"][0].update(finish_reason="stop"))


def thought_aloud(reply: Json) -> Json:
    return {**reply, "content": f"<think>They ask again.</think>\n{reply['content']}"}


def swallowed(reply: Json) -> Json:
    return {"role": "assistant", "content": "", "reasoning_content": reply["content"]}


def loops(reply: Json) -> Json:
    return {**reply, "content": "The rake is in the green shed by the canal. " * 40}


def denies(reply: Json) -> Json:
    text = "This is the first message of our conversation, so there is nothing before it."
    return {**reply, "content": text}


def denied(steps: list[Step], pick: Pick) -> Injected:
    """Not in the first turn, where it would be true."""
    number = pick.of(ends(steps)[1:])
    return Injected(
        played(answered(steps, number, denies(steps[number].reply))), f"{number}-client"
    )


def silent(steps: list[Step], pick: Pick) -> Injected:
    number = pick.of(ends(steps))
    reply = {"role": "assistant", "content": ""}
    return Injected(played(answered(steps, number, reply, on=False)), f"{number}-client")


def spent(steps: list[Step], pick: Pick) -> Injected:
    number = pick.of(ends(steps))
    thought = "I go through the list once more and count the rakes. " * 12
    reply = {"role": "assistant", "content": "", "reasoning_content": thought}
    told = answered(steps, number, reply, on=False)

    def cut(answer: Json) -> None:
        answer["choices"][0]["finish_reason"] = "length"
        answer["usage"].update(completion_tokens=900)
        answer["usage"]["total_tokens"] = answer["usage"]["prompt_tokens"] + 900

    return altered(told, number, cut)


def few_tokens(steps: list[Step], pick: Pick) -> Injected:
    """A long system prompt, of which one answer counts a tenth."""
    long = copy.deepcopy(steps)
    for step in long:
        step.body["messages"][0]["content"] += " Mind the tide and the lock." * 120

    def count(answer: Json) -> None:
        answer["usage"].update(prompt_tokens=70, total_tokens=90)

    return altered(long, pick.of(range(len(long))), count)


def never_read(steps: list[Step], pick: Pick) -> Injected:
    """From an answer on the cache is written and never read."""
    start = pick.of(range(len(steps) - 2))
    made = []

    def written(answer: Json) -> None:
        answer["usage"]["prompt_tokens_details"] = {"cached_tokens": 0, "cache_write_tokens": 90}

    for n, step in enumerate(steps):
        made.append(exchange(step.body, step.reply, n, alter=written if n >= start else None))
    return Injected(made, made[start].id)


def served_again(steps: list[Step], pick: Pick) -> Injected:
    """A text answer is that of an earlier turn, its id included."""
    spots = ends(steps)
    number = pick.of(spots[1:])
    earlier = pick.of([n for n in spots if n < number])
    told = answered(steps, number, steps[earlier].reply)
    again = exchange(
        told[number].body,
        told[number].reply,
        number,
        alter=lambda answer: answer.update(id=f"r-{earlier}-client"),
    )
    made = played(told)
    made[number] = again
    return Injected(made, again.id)


def foreign(steps: list[Step], pick: Pick) -> Injected:
    """The answer tells what another conversation asked for."""
    asked = "Please book cabin K-4417 for Odalys Fenwright on the ferry to Marstal."
    other: Json = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "You book cabins."},
            {"role": "user", "content": asked},
        ],
    }
    told = {"role": "assistant", "content": "Cabin K-4417 for Odalys Fenwright is confirmed."}
    beside = exchange(other, told, -1, id_="other")
    number = pick.of(ends(steps))
    made = played(answered(steps, number, told))
    return Injected([beside, *made], made[number].id)


def model(name: str) -> Alter:
    return lambda answer: answer.update(model=name)


def no_usage(answer: Json) -> None:
    del answer["usage"]


def wrong_sum(answer: Json) -> None:
    answer["usage"]["total_tokens"] += 311


def zero(answer: Json) -> None:
    answer["usage"].update(completion_tokens=0, total_tokens=answer["usage"]["prompt_tokens"])


def returned(change: Callable[[Json], object], steps: list[Step], pick: Pick) -> Injected | None:
    """A proxy changes a call on its way back; the harness sends back what it got."""
    spots = calling(steps, 2)
    if not spots:
        return None
    number = pick.of(spots)
    reply = copy.deepcopy(steps[number].reply)
    change(reply)
    kept = steps[: number + 1]
    client = exchange(kept[-1].body, reply, number)
    return Injected(through(kept, number, None, client), client.id)


def fold(reply: Json) -> None:
    joined = "".join(c["function"]["arguments"] for c in reply["tool_calls"])
    reply["tool_calls"] = [copy.deepcopy(reply["tool_calls"][0])]
    reply["tool_calls"][0]["function"]["arguments"] = joined


def rename(reply: Json) -> None:
    reply["tool_calls"][0]["id"] = "call_of_the_proxy"


def other_path(reply: Json) -> None:
    reply["tool_calls"][0]["function"]["arguments"] = '{"path": "/etc/other", "mode": "plain"}'


def usage_lost(steps: list[Step], pick: Pick) -> Injected:
    number = pick.of(range(len(steps)))
    client = exchange(steps[number].body, steps[number].reply, number, alter=no_usage)
    return Injected(through(steps, number, None, client), client.id)


def model_hidden(steps: list[Step], pick: Pick) -> Injected:
    """The backend answers as another model, and the proxy tells its name."""
    number = pick.of(range(len(steps)))
    step = steps[number]
    other = model("wren-mini")
    client = exchange(step.body, step.reply, number, alter=other)
    upstream = exchange(step.body, step.reply, number, tap="upstream", alter=other)
    return Injected(through(steps, number, upstream, client), client.id)


FAULTS = {
    "arguments torn": Fault("tool.arguments_invalid", SERVER, partial(called, torn)),
    "arguments in a string": Fault(
        "tool.arguments_double_encoded", SERVER, partial(called, encoded)
    ),
    "a call without a name": Fault("tool.name_invalid", SERVER, partial(called, function(name=""))),
    "a tool not on offer": Fault(
        "tool.name_invalid", SERVER, partial(called, function(name="open_window"))
    ),
    "an id used before": Fault("tool.id_reused", SERVER, used_id),
    "calls as markup": Fault("tool.markup_in_content", SERVER, as_markup),
    "calls that finish with stop": Fault("tool.finish_mismatch", SERVER, plain_finish),
    "thoughts in the text": Fault("reasoning.in_content", SERVER, partial(said, thought_aloud)),
    "the answer among the thoughts": Fault(
        "reasoning.swallowed_answer", SERVER, partial(said, swallowed)
    ),
    "a loop": Fault("output.repetition", SERVER, partial(said, loops)),
    "a history denied": Fault("output.denies_history", SERVER, denied),
    "nothing said": Fault("output.empty", SERVER, silent),
    "the budget spent": Fault("output.budget_spent_thinking", SERVER, spent),
    "a tenth counted": Fault("context.silent_truncation", SERVER, few_tokens),
    "a cache only written": Fault("cache.never_read", (*SERVER, "proxy"), never_read),
    "an answer served again": Fault("cache.stale_response", SERVER, served_again),
    "an answer to somebody else": Fault("output.foreign_content", SERVER, foreign),
    "another model": Fault("model.substituted", SERVER, partial(anywhere, model("wren-mini"))),
    "another model upstream": Fault("model.substituted", SERVER, model_hidden),
    "a path as name": Fault("model.id_is_path", SERVER, partial(anywhere, model("/srv/m.gguf"))),
    "no usage": Fault("usage.missing", SERVER, partial(anywhere, no_usage)),
    "usage lost by the proxy": Fault("usage.missing", ("proxy",), usage_lost),
    "a wrong sum": Fault("usage.inconsistent", SERVER, partial(anywhere, wrong_sum)),
    "no token counted": Fault("usage.inconsistent", SERVER, partial(anywhere, zero)),
    "calls folded on the way back": Fault("tool.calls_merged", ("proxy",), partial(returned, fold)),
    "an id changed on the way back": Fault(
        "tool.id_changed", ("proxy",), partial(returned, rename)
    ),
    "arguments changed on the way back": Fault(
        "tool.arguments_changed", ("proxy",), partial(returned, other_path)
    ),
}
