"""A server that keeps the history, and one turn in which it does not use it."""

import json
from functools import partial

from injecting import Fault, Injected, Pick, ends
from replies import responses_body
from stories import EPOCH, Json, Step

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response
from proxyaudit.core.message import assistant


def chained(step: Step, number: int, tokens: int, denied: bool) -> Exchange:
    """A turn that names the one before it, and sends the last question only."""
    before = f"resp_{number - 1}" if number else None
    asked = step.body["messages"][-1]["content"]
    body: Json = {"model": "m", "input": asked}
    if before:
        body["previous_response_id"] = before
    answer: Json = dict(responses_body(assistant(step.reply["content"])))
    answer |= {"id": f"resp_{number}", "previous_response_id": None if denied else before}
    answer["usage"] = {"input_tokens": tokens, "output_tokens": 20, "total_tokens": tokens + 20}
    data = json.dumps(answer).encode()
    kind = (("content-type", "application/json"),)
    return Exchange(
        f"{number}-client",
        "client",
        EPOCH + 2 * number,
        Request("POST", "http://model.test/v1/responses", kind, json.dumps(body).encode()),
        Response(200, kind, data, "HTTP/1.1", (Chunk(0.5, len(data)),), 0.5),
    )


def questions(steps: list[Step]) -> list[Step]:
    """The turns without tools: a question and a text."""
    return [steps[n] for n in ends(steps)]


def ignored(denied: bool, steps: list[Step], pick: Pick) -> Injected:
    """One answer says that there is no such reference, or counts the last question alone."""
    chain = questions(steps)
    number = pick.of(range(1, len(chain)))
    made = []
    for n, step in enumerate(chain):
        here = n == number
        tokens = 12 if here and not denied else 60 * (n + 1)
        made.append(chained(step, n, tokens, denied and here))
    return Injected(made, made[number].id)


SERVER = ("server", "upstream")
FAULTS = {
    "a reference denied": Fault("context.state_ignored", SERVER, partial(ignored, True)),
    "only the question counted": Fault("context.state_ignored", SERVER, partial(ignored, False)),
}
