"""The scripted agent against the scripted backend, with nothing between."""

import asyncio
import json
from itertools import pairwise

import pytest

from proxyaudit.demo import story
from proxyaudit.demo.agent import KEY, AgentLog, run_agent
from proxyaudit.demo.backend import Backend, Received
from proxyaudit.demo.http1 import chunk, read_body, read_head
from proxyaudit.demo.script import Body, ScriptedReply
from proxyaudit.demo.story import demo_script


async def _play() -> tuple[AgentLog, list[Received]]:
    async with Backend(demo_script, gap=0.001, key=KEY) as backend:
        return await run_agent(f"{backend.url}/v1"), backend.received


@pytest.fixture(scope="module")
def played() -> tuple[AgentLog, list[Received]]:
    return asyncio.run(_play())


def _bodies(received: list[Received]) -> list[Body]:
    return [json.loads(request.body) for request in received]


def test_the_story_ends_well_on_an_intact_path(played: tuple[AgentLog, list[Received]]) -> None:
    log, _ = played
    assert log.stopped is None
    assert log.succeeded
    assert "code word: kestrel" in log.final_text
    assert "2 X X O" in log.final_text
    assert log.files["codeword.txt"] == "kestrel\n"
    assert log.title == story.TITLE
    assert [turn.number for turn in log.turns] == [1, 2, 3, 4, 5, 6, 7]
    assert all("very first message" not in turn.text for turn in log.turns)


def test_each_request_continues_the_one_before_byte_for_byte(
    played: tuple[AgentLog, list[Received]],
) -> None:
    """Append-only: the next history begins with the last one, and the reply is echoed whole."""
    log, received = played
    title, *main = _bodies(received)
    assert "tools" not in title
    histories = [body["messages"] for body in main]
    for before, after in pairwise(histories):
        assert after[: len(before)] == before
        assert after[len(before)]["role"] == "assistant"
    assert log.messages[: len(histories[-1])] == histories[-1]
    sent = [sent.body for turn in log.turns for sent in turn.sent]
    assert sent == [request.body for request in received[1:]]


def test_the_story_has_what_an_audit_looks_at(played: tuple[AgentLog, list[Received]]) -> None:
    log, received = played
    assistants = [m for m in log.messages if m["role"] == "assistant"]
    assert sum(len(m.get("tool_calls", ())) > 1 for m in assistants) == 2
    assert any(m.get("reasoning_content") for m in assistants)
    assert any(not text.isascii() for text in (m["content"] for m in assistants))
    assert {r.head.get("x-session-id") for r in received} == {log.session}
    assert {r.head.get("authorization") for r in received} == {f"Bearer {KEY}"}
    assert {body["model"] for body in _bodies(received)} == {"demo-model"}
    ids = [c["id"] for m in assistants for c in m.get("tool_calls", ())]
    assert sorted(ids) == sorted(m["tool_call_id"] for m in log.messages if m["role"] == "tool")
    assert len(set(ids)) == len(ids) == 6


def test_the_model_knows_nothing_but_the_request(
    played: tuple[AgentLog, list[Received]],
) -> None:
    """Without the first turns the same question gets an honest, different answer."""
    main = _bodies(played[1])[1:]
    whole = next(b for b in main if b["messages"][-1]["content"] == story.USER_TURNS[3])
    reply = demo_script(whole)
    lost = demo_script({**whole, "messages": whole["messages"][-1:]})
    assert "2 X X O" in reply.text
    assert "very first message" in lost.text
    assert demo_script(whole) == reply


def _run_against(answer: bytes, turns: tuple[str, ...] = story.USER_TURNS[:2]) -> AgentLog:
    """The agent's log against a server that sends this and closes, whatever it is asked."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        assert head
        await read_body(reader, head)  # closing over unread bytes would reset the connection
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def run() -> AgentLog:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await run_agent(f"http://127.0.0.1:{port}/v1", turns=turns)

    return asyncio.run(run())


def test_an_error_status_ends_the_run_with_its_reason() -> None:
    body = b'{"error":{"message":"model is loading"}}'
    log = _run_against(
        b"HTTP/1.1 503 x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    )
    assert log.stopped
    assert "503" in log.stopped
    assert "model is loading" in log.stopped
    assert log.turns == []


def test_a_closed_door_ends_the_run() -> None:
    assert "refused" in str(_run_against(b"").stopped)


def test_a_cut_reply_is_asked_for_once_more_then_the_story_goes_on() -> None:
    begun = b'data: {"choices":[{"index":0,"delta":{"content":"I beg"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    log = _run_against(head + b"connection: close\r\n\r\n" + chunk(begun))
    assert log.stopped is None
    assert [[s.answer.ended for s in turn.sent] for turn in log.turns] == [["cut", "cut"]] * 2
    assert log.turns[0].sent[0].body == log.turns[0].sent[1].body
    assert [m["content"] for m in log.messages if m["role"] == "assistant"] == ["I beg", "I beg"]


def test_a_model_that_never_stops_calling_is_stopped() -> None:
    def endless(body: Body) -> ScriptedReply:
        calls = demo_script({"messages": [_READ], "tools": body.get("tools", ())}).calls
        return ScriptedReply("Again.", calls=calls)

    async def run() -> AgentLog:
        async with Backend(endless, gap=0) as backend:
            return await run_agent(f"{backend.url}/v1", turns=story.USER_TURNS[1:2])

    assert asyncio.run(run()).stopped == "turn 1: no end after 8 steps"


_READ = {"role": "user", "content": story.USER_TURNS[1]}
