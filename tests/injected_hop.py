"""Faults of a proxy on the way to the backend and back, beside the history itself."""

import copy
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from injecting import Fault, Injected, Pick, calling, ends, through
from stories import Json, Step, exchange, played

from proxyaudit.core.exchange import Exchange, Headers, Response
from proxyaudit.core.recording import Assume

PICTURE = {
    "type": "image_url",
    "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"},
}
PROXY_KEY: Headers = (("authorization", "Bearer pk-of-the-gateway-1"),)


def sent_on(
    client: Callable[[Json], object] | None,
    upstream: Callable[[Json], object],
    steps: list[Step],
    pick: Pick,
) -> Injected:
    """Both sides of every request are prepared alike; one of them is sent on changed."""
    number = pick.of(range(len(steps)))
    prepared = copy.deepcopy(steps)
    for step in prepared:
        if client is not None:
            client(step.body)
    step = prepared[number]
    body = copy.deepcopy(step.body)
    upstream(body)
    other = exchange(body, step.reply, number, tap="upstream")
    return Injected(through(prepared, number, other), other.id)


def put(**fields: object) -> Callable[[Json], object]:
    return lambda body: body.update(fields)


def without(name: str) -> Callable[[Json], object]:
    return lambda body: body.pop(name)


def first_user(body: Json) -> Json:
    found: Json = body["messages"][1]
    return found


def with_picture(body: Json) -> None:
    said = first_user(body)
    said["content"] = [{"type": "text", "text": said["content"]}, PICTURE]


def no_picture(body: Json) -> None:
    first_user(body)["content"].pop()


def picture_in_words(body: Json) -> None:
    first_user(body)["content"][1] = {"type": "text", "text": "[image]"}


def marked(body: Json) -> None:
    system = body["messages"][0]
    mark = {"cache_control": {"type": "ephemeral"}}
    system["content"] = [{"type": "text", "text": system["content"], **mark}]


def unmarked(body: Json) -> None:
    del body["messages"][0]["content"][0]["cache_control"]


def failed(made: Exchange, status: int, text: str) -> Exchange:
    """The same request, answered with an error."""
    data = json.dumps({"error": {"message": text, "type": "error"}}).encode()
    assert made.response is not None
    return replace(made, response=replace(made.response, status=status, body=data, chunks=()))


def null_refused(steps: list[Step], pick: Pick) -> Injected | None:
    """The empty text beside calls is made null, and refused."""
    spots = [n + 1 for n in calling(steps) if n + 1 < len(steps)]
    if not spots:
        return None
    number = pick.of(spots)
    kept = copy.deepcopy(steps[: number + 1])
    for step in kept:
        for message in step.body["messages"]:
            if message.get("content", "") is None:
                message["content"] = ""
    body = copy.deepcopy(kept[number].body)
    places = [n for n, m in enumerate(body["messages"]) if m["content"] == ""]
    body["messages"][places[0]]["content"] = None
    said = f"messages[{places[0]}].content: expected a string, received null"
    upstream = failed(exchange(body, {}, number, tap="upstream"), 400, said)
    client = failed(exchange(kept[number].body, {}, number), 400, said)
    return Injected(through(kept, number, upstream, client), upstream.id)


def keyed(
    upstream: Headers, assume: Assume, status: int, steps: list[Step], pick: Pick
) -> Injected:
    """The client sends a key with each request; one is sent on with other headers."""
    number = pick.of(range(len(steps)))
    made: list[Exchange] = []
    for n, step in enumerate(steps):
        good = assume.client_credential_is_for == "upstream"
        usual = PROXY_KEY if good else (("x-api-key", "uk-of-the-provider-7"),)
        client = exchange(step.body, step.reply, n, headers=PROXY_KEY)
        other = exchange(
            step.body, step.reply, n, tap="upstream", headers=upstream if n == number else usual
        )
        if n == number and status != 200:
            client, other = (failed(e, status, "no key") for e in (client, other))
        made += [client, other]
    return Injected(made, f"{number}-upstream", assume)


def refused_by_hop(status: int, steps: list[Step], pick: Pick) -> Injected:
    """A hop before the model answers with an error page."""
    number = pick.of(range(len(steps)))
    made = played(steps[: number + 1])
    page = f"<html><head><title>{status}</title></head><body>nginx</body></html>".encode()
    took = 60.0 if status == 504 else 0.1
    kind = (("content-type", "text/html"), ("server", "nginx"))
    made[number] = replace(
        made[number], response=Response(status, kind, page, "HTTP/1.1", (), took)
    )
    return Injected(made, made[number].id)


def packed(claimed: str, steps: list[Step], pick: Pick) -> Injected:
    """The header says another encoding than the body has."""
    number = pick.of(range(len(steps)))
    made = played(steps)
    response = made[number].response
    assert response is not None
    body = response.body if claimed else gzip.compress(response.body)
    named = (("content-encoding", claimed),) if claimed else ()
    made[number] = replace(
        made[number],
        response=replace(response, headers=(*response.headers, *named), body=body, chunks=()),
    )
    return Injected(made, made[number].id)


def answer_escaped(steps: list[Step], pick: Pick) -> Injected:
    """An answer of two lines comes back with its escapes applied again."""
    number = pick.of(ends(steps))
    kept = copy.deepcopy(steps[: number + 1])
    text = f'{kept[number].reply["content"]}\n"So it is."\nThat is all.'
    kept[number].reply["content"] = text
    reply = {**kept[number].reply, "content": json.dumps(text)[1:-1]}
    client = exchange(kept[number].body, reply, number)
    return Injected(through(kept, number, None, client), client.id)


def on_way(
    kind: str, upstream: Callable[[Json], object], client: Callable[[Json], object] | None = None
) -> Fault:
    return Fault(kind, ("proxy",), partial(sent_on, client, upstream))


FOR_PROXY = Assume(client_credential_is_for="proxy")
FOR_UPSTREAM = Assume(client_credential_is_for="upstream")
BEHIND = ("proxy", "server", "upstream", "unknown")

FAULTS = {
    "tools lost on the way": on_way("tool.definitions_dropped", without("tools")),
    "a parameter lost": on_way("param.dropped", without("max_tokens")),
    "the choice of tools lost": on_way(
        "param.dropped", without("tool_choice"), put(tool_choice="required")
    ),
    "a parameter changed": on_way("param.changed", put(max_tokens=64)),
    "the temperature changed": on_way("param.changed", put(temperature=1.0), put(temperature=0.2)),
    "cache marks lost": on_way("cache.control_dropped", unmarked, marked),
    "a picture lost": on_way("content.part_dropped", no_picture, with_picture),
    "a picture put in words": on_way("content.part_dropped", picture_in_words, with_picture),
    "an empty text made null": Fault("content.null_rejected", ("proxy",), null_refused),
    "an answer escaped again": Fault("content.double_escaped", ("proxy",), answer_escaped),
    "the client's key sent on": Fault(
        "auth.leaked", ("proxy",), partial(keyed, PROXY_KEY, FOR_PROXY, 200)
    ),
    "the client's key lost": Fault(
        "auth.dropped", ("proxy",), partial(keyed, (), FOR_UPSTREAM, 401)
    ),
    "a body too large": Fault("transport.body_too_large", BEHIND, partial(refused_by_hop, 413)),
    "a gateway that gave up": Fault(
        "transport.gateway_timeout", BEHIND, partial(refused_by_hop, 504)
    ),
    "plain, said to be gzip": Fault("transport.encoding_mismatch", BEHIND, partial(packed, "gzip")),
    "gzip, not said": Fault("transport.encoding_mismatch", BEHIND, partial(packed, "")),
}
