"""A recording sent again to a server on a real socket, and what the comparison says."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from loopback import Answer, Server, plain, raw, serving, then_close

from proxyaudit.client.send import Timeouts
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import (
    Chunk,
    Exchange,
    Headers,
    Request,
    Response,
    Tap,
    WebSocketMessage,
)
from proxyaudit.core.recording import Recording
from proxyaudit.core.replay import ReplayedTurn, ReplayResult
from proxyaudit.dialects.read import NotATurn, read_turn
from proxyaudit.workflows.replay import Progress, replay
from proxyaudit.workflows.replay_plan import Selection, plan

FINGERPRINT = "Bearer [redacted sha256:1a2b3c4d]"


@dataclass
class Kept:
    """A writer that keeps what it gets."""

    requests: list[Exchange] = field(default_factory=list)
    responses: list[Exchange] = field(default_factory=list)
    closed: bool = False

    def request(self, exchange: Exchange) -> None:
        self.requests.append(exchange)

    def response(self, exchange: Exchange) -> None:
        self.responses.append(exchange)

    def close(self) -> None:
        self.closed = True


def completion(text: str | None = "hello", tokens: int = 11, **message: Any) -> bytes:
    said = {"role": "assistant", "content": text, **message}
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": said, "finish_reason": finish}
    usage = {"prompt_tokens": tokens, "completion_tokens": 3, "total_tokens": tokens + 3}
    return json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage}).encode()


def call(name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function}


def asked(text: str, *, stream: bool = False) -> bytes:
    messages = [{"role": "user", "content": text}]
    return json.dumps({"model": "m", "stream": stream, "messages": messages}, indent=1).encode()


def recorded(
    id_: str,
    reply: bytes = b"",
    *,
    body: bytes | None = None,
    status: int = 200,
    tap: Tap = "client",
    path: str = "/v1/chat/completions",
    **more: Any,
) -> Exchange:
    headers: Headers = (("Authorization", FINGERPRINT), ("X-Session", "s"))
    request = Request("POST", f"http://old{path}", headers, asked(id_) if body is None else body)
    response = Response(status, (), reply, chunks=(Chunk(0.5, len(reply)),), ended_at=0.75)
    return Exchange(id_, tap, 1.0, request, response, **more)


def recording(*exchanges: Exchange) -> Recording:
    return Recording("old", exchanges)


def conversation(id_: str, *exchanges: Exchange) -> Conversation:
    turns = [turn for e in exchanges if not isinstance(turn := read_turn(e), NotATurn)]
    return Conversation(id_, turns=turns, exchanges=[e.id for e in exchanges])


async def sent(
    old: Recording, *answers: Answer, **options: Any
) -> tuple[ReplayResult, Server, Kept]:
    kept = Kept()
    async with serving(*answers) as server:
        options = {"timeouts": Timeouts(2.0, 0.5)} | options
        result = await replay(old, server.url, open_writer=lambda: kept, **options)
    return result, server, kept


def compared(reply: bytes | Answer, here: bytes | Answer, **more: Any) -> ReplayedTurn:
    old = reply if isinstance(reply, bytes) else b""
    answer = plain(here) if isinstance(here, bytes) else here
    result, _, _ = asyncio.run(sent(recording(recorded("a", old, **more)), answer))
    return result.turns[0]


def test_requests_leave_unchanged_and_in_order() -> None:
    """The bodies byte for byte, one at a time; host and credentials are not the recorded ones."""
    old = recording(recorded("a", completion()), recorded("b", completion()))
    seen: list[Progress] = []
    result, server, kept = asyncio.run(
        sent(old, plain(completion()), key=lambda d: f"key of {d}", on_progress=seen.append)
    )
    assert server.bodies == [asked("a"), asked("b")]
    assert server.headers(0) == [
        ("Host", f"127.0.0.1:{server.port}"),
        ("Authorization", "Bearer key of openai-chat"),
        ("X-Session", "s"),
        ("Content-Length", str(len(asked("a")))),
    ]
    assert [turn.verdict for turn in result.turns] == ["same", "same"]
    assert (
        [e.id for e in kept.requests]
        == [e.id for e in kept.responses]
        == [
            "a.replay",
            "b.replay",
        ]
    )
    assert kept.closed
    assert [(p.done, p.planned) for p in seen] == [(1, 2), (2, 2)]


def test_no_key_means_no_credential() -> None:
    """A fingerprint is never sent in place of a key."""
    _, server, _ = asyncio.run(sent(recording(recorded("a", completion())), plain(completion())))
    assert b"redacted" not in server.heads[0]
    assert b"Authorization" not in server.heads[0]


def test_model_name_is_replaced_in_place() -> None:
    """Asked for, and nothing else in the body moves."""
    old = recording(recorded("a", completion()))
    _, server, _ = asyncio.run(sent(old, plain(completion()), model="n"))
    assert server.bodies == [asked("a").replace(b'"m"', b'"n"')]


def test_other_prompt_tokens_are_the_first_thing_said() -> None:
    """Whatever else differs, the prompt that the model saw comes first."""
    turn = compared(completion("No idea.", 311), completion("Zorblax.", 812))
    assert turn.verdict == "other prompt"
    assert turn.summary == (
        "the same request gave prompt_tokens 812 here and 311 when recorded: "
        "the model did not see the same prompt"
    )
    assert turn.tokens_differ


def test_text_differs_alone() -> None:
    """With the share alike and the place; not a fault."""
    turn = compared(completion("The sky is blue."), completion("The sky is grey."))
    assert turn.verdict == "other text"
    assert (turn.text.at, turn.text.equal) == (11, False)
    assert turn.text.excerpt is not None
    assert turn.text.excerpt.here == "The sky is grey."
    assert 0.7 < turn.text.similarity < 0.95


@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("read", '{ "b":[1], "a":1.0 }', "same"),
        ("read", '{"a":2,"b":[1]}', "other tool calls"),
        ("write", '{"a":1,"b":[1]}', "other tool calls"),
        ("read", "{", "other tool calls"),
    ],
)
def test_calls_are_compared_by_name_and_json(name: str, arguments: str, verdict: str) -> None:
    """Spacing and order of keys do not count, nor does the id."""
    before = completion(None, tool_calls=[call("read", '{"a":1,"b":[1]}')])
    again = completion(None, tool_calls=[call(name, arguments) | {"id": "other"}])
    turn = compared(before, again)
    assert turn.verdict == verdict
    assert turn.calls.same_names == (name == "read")


def test_call_that_is_missing_here() -> None:
    """Text instead of a call is a difference in calls, not in words."""
    turn = compared(completion(None, tool_calls=[call("read", "{}")]), completion("No tools."))
    assert turn.verdict == "other tool calls"
    assert turn.summary == "call 1: read({}) when recorded, none here"


def test_stream_stays_a_stream_and_is_timed() -> None:
    """A streamed reply is compared with a streamed one; chunk times are those of this run."""
    delta = {"index": 0, "delta": {"role": "assistant", "content": "hello"}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    events = [
        b"data: %s\n\n" % json.dumps({"id": "c", "model": "m", "choices": [c]}).encode()
        for c in (delta, last)
    ] + [b"data: [DONE]\n\n"]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    turn = compared(
        b"".join(events), then_close(raw(head, *events, pause=0.05)), body=asked("a", stream=True)
    )
    assert turn.verdict == "same"
    assert turn.summary == "prompt_tokens not reported on both sides, the same reply"
    assert turn.first_byte.recorded == 0.5
    assert turn.total.recorded == 0.75
    assert turn.first_byte.here is not None
    assert turn.total.here is not None
    assert turn.first_byte.here < turn.total.here


def test_stream_against_one_piece_is_a_difference_of_structure() -> None:
    """So is an error, and a reply that is cut."""
    done = b"data: [DONE]\n\n"
    event = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"hello"}}]}\n\n'
    turn = compared(event + done, completion(), body=asked("a", stream=True))
    assert turn.verdict == "other structure"
    assert "reply: a stream when recorded, in one piece here" in turn.structure

    turn = compared(completion(), plain(b'{"error":{"message":"boom"}}', status="500 Oops"))
    assert turn.verdict == "other structure"
    assert "status: 200 when recorded, 500 here" in turn.structure
    assert "boom" in turn.summary

    cut = then_close(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + completion()[:20]))
    turn = compared(completion(), cut)
    assert turn.verdict == "other structure"
    assert "end: complete when recorded, upstream_eof here" in turn.structure


def test_no_reply_after_the_first_turn_goes_on() -> None:
    """A server that hangs up once costs one turn."""
    old = recording(*(recorded(name, completion()) for name in "abc"))
    answers = plain(completion()), then_close(raw()), plain(completion())
    result, _, _ = asyncio.run(sent(old, *answers))
    assert [turn.verdict for turn in result.turns] == ["same", "no reply", "same"]
    assert "upstream_eof" in result.turns[1].summary
    assert [turn.name for turn in result.faults] == ["request 2"]


def test_each_request_has_a_connection_of_its_own() -> None:
    """A server that closes after an answer without saying so cannot spoil the next request."""
    old = recording(*(recorded(name, completion()) for name in "abc"))
    result, server, _ = asyncio.run(sent(old, plain(completion())))
    assert [turn.verdict for turn in result.turns] == ["same", "same", "same"]
    assert server.connections == 3


def test_recorded_reply_that_the_harness_hung_up_on() -> None:
    """Half a reply cut off by the harness says nothing about the server."""
    turn = compared(completion()[:30], completion(), end="client_abort")
    assert turn.verdict == "nothing recorded"
    assert turn.structure == ()


def test_not_a_turn_is_counted_with_its_reason() -> None:
    """Model lists and embeddings are not sent."""
    other = recorded("x", b"{}", path="/v1/embeddings", body=b'{"input": "a"}')
    old = recording(other, recorded("a", completion()))
    result, server, _ = asyncio.run(sent(old, plain(completion())))
    assert len(server.bodies) == 1
    assert [(item.exchange, bool(item.reason)) for item in result.not_replayed] == [("x", True)]


def test_selection_by_conversation_and_turn() -> None:
    """By the beginning of an id; turns are numbered in their conversation, failed ones are not."""
    a, b, c, d = (recorded(name, completion()) for name in "abcd")
    groups = [conversation("one-1", a, c), conversation("two-2", b)]
    groups[0].exchanges.append("d")
    old = recording(a, b, c, d)

    def ids(**selection: Any) -> list[tuple[str, str | None, int | None]]:
        chosen = plan(old, selection=Selection(**selection), conversations=groups)
        return [(i.turn.id, i.place.conversation, i.place.number) for i in chosen.items]

    assert ids() == [
        ("a", "one-1", 1),
        ("b", "two-2", 1),
        ("c", "one-1", 2),
        ("d", "one-1", None),
    ]
    assert ids(conversation="two") == [("b", "two-2", 1)]
    assert ids(turn=2) == [("c", "one-1", 2)]
    for wrong in ({"conversation": "zzz"}, {"conversation": ""}, {"turn": 9}):
        with pytest.raises(UserError):
            ids(**wrong)


def test_upstream_tap_takes_its_places_from_the_client_tap() -> None:
    """Conversations are made of one tap; the other is named through the pairs."""
    a, b = recorded("a", completion()), recorded("b", completion(), tap="upstream")
    chosen = plan(
        recording(a, b), tap="upstream", conversations=[conversation("k", a)], pairs={"a": ["b"]}
    )
    assert [(i.turn.id, i.place.number) for i in chosen.items] == [("b", 1)]
    assert plan(recording(b)).tap == "upstream"
    with pytest.raises(UserError, match="upstream tap"):
        plan(recording(a), tap="upstream")


def test_unreachable_target_is_said_at_once() -> None:
    """Not one refused request for each turn."""
    old = recording(recorded("a", completion()), recorded("b", completion()))
    kept = Kept()

    async def run() -> None:
        await replay(old, "http://127.0.0.1:1", open_writer=lambda: kept)

    with pytest.raises(UserError, match="cannot be reached") as caught:
        asyncio.run(run())
    assert caught.value.hint
    assert len(kept.responses) == 1
    assert kept.closed


@pytest.mark.parametrize("status", ["401 No", "404 No"])
def test_target_that_turns_the_first_request_away(status: str) -> None:
    """A missing key or a wrong path fails every turn alike; a recorded 404 is another matter."""
    answer = plain(b'{"error":{"message":"no"}}', status=status)
    with pytest.raises(UserError) as caught:
        asyncio.run(sent(recording(recorded("a", completion())), answer))
    assert "--" in caught.value.hint
    was = recorded("a", b'{"error":{"message":"no"}}', status=int(status[:3]))
    result, _, _ = asyncio.run(sent(recording(was), answer))
    assert result.turns[0].verdict == "same"


def test_cancelling_keeps_what_is_there() -> None:
    """Ctrl-C: the turns done are returned, the writer is closed."""
    old = recording(recorded("a", completion()), recorded("b", completion()))
    kept = Kept()

    async def run() -> ReplayResult:
        async with serving(plain(completion()), raw()) as server:
            started = replay(
                old, server.url, open_writer=lambda: kept, on_progress=lambda _: done.set()
            )
            done = asyncio.Event()
            task = asyncio.ensure_future(started)
            await done.wait()
            await asyncio.sleep(0.1)
            task.cancel()
            return await task

    result = asyncio.run(run())
    assert result.interrupted
    assert [turn.exchange for turn in result.turns] == ["a"]
    assert (len(kept.requests), len(kept.responses), kept.closed) == (2, 1, True)


def test_compressed_reply_is_read_and_kept() -> None:
    """The bytes stay compressed in the new recording; the comparison reads them."""
    import gzip

    body = gzip.compress(completion())
    answer = plain(body, "Content-Encoding: gzip")
    result, _, kept = asyncio.run(sent(recording(recorded("a", completion())), answer))
    assert result.turns[0].verdict == "same"
    assert kept.responses[0].response is not None
    assert kept.responses[0].response.body == body


def test_key_is_asked_for_by_dialect() -> None:
    """A recording can hold more than one dialect."""
    asked_for: list[str] = []

    def key(dialect: str) -> None:
        asked_for.append(dialect)

    spy: Callable[[str], str | None] = key
    asyncio.run(sent(recording(recorded("a", completion())), plain(completion()), key=spy))
    assert asked_for == ["openai-chat"]


def test_turns_on_a_websocket_are_not_sent_again_and_say_so() -> None:
    """Each is counted; what went over HTTP is replayed all the same."""
    ask = json.dumps({"type": "response.create", "input": "hi"})
    frames = tuple(WebSocketMessage(float(n), "client", ask) for n in range(2))
    http = recorded("a", completion())
    socket = replace(recorded("w"), websocket=frames)
    result, server, _ = asyncio.run(sent(recording(http, socket), plain(completion())))
    assert len(server.bodies) == 1
    assert [(n.exchange, n.reason) for n in result.not_replayed] == [
        ("w", "a turn on a websocket; only HTTP requests are sent again"),
        ("w#2", "a turn on a websocket; only HTTP requests are sent again"),
    ]
    with pytest.raises(UserError, match="1 exchanges, none of them a model request over HTTP"):
        asyncio.run(sent(recording(socket)))
