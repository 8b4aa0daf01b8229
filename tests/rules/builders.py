"""Small builders for rule tests: turns out of messages or out of bytes, comparisons, outcomes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proxyaudit.compare.relation import forwarded, next_turn, returned
from proxyaudit.compare.thread import Placed
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.exchange import Chunk, End, Exchange, Request, Response, Tap
from proxyaudit.core.finding import Skip
from proxyaudit.core.json import JSON
from proxyaudit.core.message import Message, Part, Reasoning, Text, ToolCall
from proxyaudit.core.recording import Assume
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import CallDelta, Prompt, Reply, Stream, Tool, Turn, Usage
from proxyaudit.dialects.read import read_turn
from proxyaudit.rules.base import Facts, Found, Outcome, Subject, all_rules

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"
_PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}
_EPOCH = 1_790_000_000.0


type Frame = dict[str, Any] | str | bytes


def call(id_: str, name: str = "read_file", /, **arguments: JSON) -> ToolCall:
    """A call with a JSON object as arguments."""
    return ToolCall(id_, name, json.dumps(arguments))


def raw_call(id_: str, name: str, arguments: str) -> ToolCall:
    """A call with arguments as they are."""
    return ToolCall(id_, name, arguments)


def thought(text: str, signature: str | None = None) -> Reasoning:
    return Reasoning(text, signature)


def placed(message: Message, pointer: str) -> Message:
    """The message with the pointers that chat completions would give it and its parts."""
    parts: list[Part] = []
    calls = 0
    for part in message.parts:
        if isinstance(part, ToolCall):
            parts.append(replace(part, pointer=f"{pointer}/tool_calls/{calls}"))
            calls += 1
        else:
            word = {Text: "content", Reasoning: "reasoning_content"}.get(type(part), "")
            parts.append(replace(part, pointer=f"{pointer}/{word}".rstrip("/")))
    return Message(message.role, tuple(parts), pointer, message.raw_role or message.role)


def turn(
    *messages: Message,
    reply: Message | str | None = "Fine.",
    finish: str | None = None,
    id: str = "1",  # noqa: A002 - the word that the product uses
    tap: Tap = "client",
    dialect: str = CHAT,
    tools: Sequence[str | Tool] = (),
    settings: Mapping[str, JSON] | None = None,
    stream: Stream | None = None,
    usage: Usage | None = None,
    status: int = 200,
    end: End = "complete",
    error: str | None = None,
    previous_id: str | None = None,
    model: str = "m",
    timed: bool = True,
    started_at: float = 0.0,
) -> Turn:
    """A turn of messages. `finish` follows from the reply where it is not given."""
    said = Message("assistant", (Text(reply),)) if isinstance(reply, str) else reply
    root = "/stream" if stream else "/choices/0/message"
    message = placed(said, root) if said else None
    usual = "tool_calls" if said and said.calls else "stop"
    options = dict(settings or {})
    prompt = Prompt(
        tuple(placed(m, f"/messages/{n}") for n, m in enumerate(messages)),
        tuple(_tool(t, n) for n, t in enumerate(tools)),
        model=model,
        stream=stream is not None,
        settings=options,
        setting_pointers={name: f"/{name}" for name in options},
        previous_id=previous_id,
    )
    word = finish or (usual if message else None)
    read = Reply(message, word, word, "/choices/0/finish_reason", usage, model, "r", error, stream)
    request = Request("POST", f"http://model.test{_PATHS[dialect]}")
    at = _EPOCH + started_at
    response = Response(status, ended_at=1.0)
    exchange = Exchange(id, tap, at, request, response, end, timed=timed)
    return Turn(exchange, dialect, prompt, read)


def _tool(tool: str | Tool, number: int) -> Tool:
    if isinstance(tool, Tool):
        return replace(tool, pointer=f"/tools/{number}")
    definition = json.dumps({"description": tool, "parameters": {"type": "object"}})
    return Tool(tool, definition, f"/tools/{number}")


def wire(
    body: dict[str, Any],
    reply: dict[str, Any] | str | None = None,
    frames: Sequence[tuple[float, Frame]] | None = None,
    *,
    dialect: str = CHAT,
    id: str = "1",  # noqa: A002 - the word that the product uses
    tap: Tap = "client",
    status: int = 200,
    end: End = "complete",
    timed: bool = True,
) -> Turn:
    """A turn read from bytes: a JSON body, or frames of (seconds, object, text or bytes)."""
    pieces = [(at, _frame(data)) for at, data in frames or ()]
    kind = "application/json" if frames is None else "text/event-stream"
    if frames is None:
        raw = reply if isinstance(reply, str) else json.dumps(reply)
        pieces = [(0.5, raw.encode())]
    exchange = Exchange(
        id,
        tap,
        _EPOCH,
        Request("POST", f"http://model.test{_PATHS[dialect]}", (), json.dumps(body).encode()),
        Response(
            status,
            (("content-type", kind),),
            b"".join(raw for _, raw in pieces),
            chunks=tuple(Chunk(at, len(raw)) for at, raw in pieces),
            ended_at=pieces[-1][0] if pieces else 0.5,
        ),
        end,
        timed=timed,
    )
    read = read_turn(exchange)
    assert isinstance(read, Turn), read
    return read


def _frame(data: Frame) -> bytes:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode()
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


DONE = "data: [DONE]\n\n"


def ask(text: str = "Tell of the mill.", **more: Any) -> dict[str, Any]:
    """The body of a chat request with one user message, streamed unless `more` says no."""
    return {
        "model": "m",
        "messages": [{"role": "user", "content": text}],
        "stream": True,
        **more,
    }


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None) -> dict[str, Any]:
    """One chunk of a chat stream."""
    return {
        "id": "r",
        "model": "m",
        "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}],
    }


def said(text: str) -> dict[str, Any]:
    """A chunk of visible text."""
    return chunk({"content": text})


def piece(index: int | None, arguments: str, **more: str) -> dict[str, Any]:
    """A chunk with one piece of a call; `more` may hold `id` and `name`."""
    function = {"arguments": arguments} | ({"name": more["name"]} if "name" in more else {})
    item: dict[str, Any] = {"function": function}
    if index is not None:
        item["index"] = index
    if "id" in more:
        item["id"] = more["id"]
    return chunk({"tool_calls": [item]})


def streamed(
    *frames: Frame,
    finish: str | None = "stop",
    done: bool = True,
    gap: float = 0.1,
    body: dict[str, Any] | None = None,
    id: str = "1",  # noqa: A002 - the word that the product uses
    tap: Tap = "client",
    end: End = "complete",
    timed: bool = True,
) -> Turn:
    """A streamed chat turn: the frames, a finish reason and the sentinel, `gap` seconds apart."""
    last: list[Frame] = [chunk(finish=finish)] if finish else []
    last += [DONE] if done else []
    whole = [(round(gap * n, 6), frame) for n, frame in enumerate([*frames, *last], 1)]
    return wire(body or ask(), frames=whole, id=id, tap=tap, end=end, timed=timed)


def stream_of(*deltas: CallDelta, times: Sequence[float] = (), done: bool = True) -> Stream:
    """A stream of which only call pieces and times matter."""
    return Stream((), (), deltas, done, text_times=tuple(times))


def hop(client: Turn, upstream: Turn) -> Comparison:
    """The same request at both taps."""
    return forwarded(client, upstream)


def back(upstream: Turn, client: Turn) -> Comparison:
    """The same reply at both taps."""
    return returned(upstream, client)


def after(left: Turn, right: Turn) -> Comparison:
    """One turn and the next."""
    comparison = next_turn(Placed(Conversation("c"), left), right)
    assert comparison is not None
    return comparison


def conversation(*turns: Turn) -> Conversation:
    return Conversation("c", turns=list(turns), exchanges=[t.id for t in turns])


def traffic(*conversations: Conversation | Sequence[Turn] | Turn) -> Traffic:
    """A recording of conversations: each given whole, as its turns, or as its only turn."""
    made: list[Conversation] = []
    for n, given in enumerate(conversations, 1):
        turns = [given] if isinstance(given, Turn) else given
        known = turns if isinstance(turns, Conversation) else conversation(*turns)
        made.append(replace(known, id=f"c{n}") if known.id == "c" else known)
    turns_of_all = (t for c in made for t in c.turns)
    ordered = sorted(turns_of_all, key=lambda t: t.exchange.started_at)
    return Traffic("recording", tuple(ordered), tuple(made))


def headed(made: Turn, url: str | None = None, **headers: str) -> Turn:
    """The turn with request headers; an underscore in a name stands for a dash."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    request = replace(made.exchange.request, headers=named, url=url or made.exchange.request.url)
    return replace(made, exchange=replace(made.exchange, request=request))


def answered(made: Turn, status: int = 200, body: bytes = b"", seconds: float = 0.5) -> Turn:
    """The turn with another response."""
    known = made.exchange.response or Response(status)
    response = replace(known, status=status, body=body, ended_at=seconds)
    return replace(made, exchange=replace(made.exchange, response=response))


def outcomes(name: str, subject: Subject, **assume: Any) -> list[Outcome]:
    """What the rule of this name for this kind of subject yields."""
    facts = Facts(Assume(**assume))
    rules = [r for r in all_rules() if r.name == name and isinstance(subject, r.on)]
    assert rules, f"no rule {name} for {type(subject).__name__}"
    if isinstance(subject, Comparison):
        rules = [r for r in rules if subject.relation in r.relations]
        assert rules, f"{name} does not look at {subject.relation}"
    return [outcome for rule in rules for outcome in rule.check(subject, facts)]


def findings(name: str, subject: Subject, **assume: Any) -> list[Found]:
    return [o for o in outcomes(name, subject, **assume) if isinstance(o, Found)]


def skips(name: str, subject: Subject, **assume: Any) -> list[str]:
    return [o.reason for o in outcomes(name, subject, **assume) if isinstance(o, Skip)]


def pointers(found: Sequence[Found]) -> list[str]:
    """The pointers of all places of some findings."""
    return [place.pointer for one in found for place in one.places]
