"""The scripted backend, on real sockets."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from proxyaudit.demo.agent import TOOLS
from proxyaudit.demo.backend import Backend
from proxyaudit.demo.chat import dumps
from proxyaudit.demo.coding import coding_script
from proxyaudit.demo.reading import read_reply
from proxyaudit.demo.script import Body, Call, Script, ScriptedReply
from proxyaudit.demo.sender import Answer, Connection
from proxyaudit.demo.tokens import count, render_prompt

REPLY = ScriptedReply(
    "Two files — read at once, in one go, and nothing else to do.",
    "I look at both.",
    (Call("read_file", {"path": "a.txt"}), Call("read_file", {"path": "é.txt"})),
)
CHAT = "/v1/chat/completions"


def _fixed(_: Body) -> ScriptedReply:
    return REPLY


def _talk[T](
    script: Script, talk: Callable[[Backend, Connection], Awaitable[T]], **options: Any
) -> T:
    async def run() -> T:
        async with Backend(script, gap=options.pop("gap", 0), **options) as backend:
            connection = Connection(backend.url)
            try:
                return await talk(backend, connection)
            finally:
                await connection.close()

    return asyncio.run(run())


def _post(body: object, path: str = CHAT, *headers: tuple[str, str], **options: Any) -> Answer:
    raw = body if isinstance(body, bytes) else dumps(body)
    return _talk(_fixed, lambda _, connection: connection.post(path, headers, raw), **options)


def _chat(*messages: Body, **more: object) -> Body:
    return {"model": "demo-model", "messages": list(messages), **more}


USER = {"role": "user", "content": "Read both."}
STREAMED = _chat(USER, stream=True, stream_options={"include_usage": True})


def _events(answer: Answer) -> list[str]:
    return [e.removeprefix("data: ") for e in answer.body.decode().split("\n\n") if e]


def test_a_stream_adds_up_to_the_plain_reply() -> None:
    streamed, plain = read_reply(_post(STREAMED).body), read_reply(_post(_chat(USER)).body)
    assert streamed.text == plain.text == REPLY.text
    assert streamed.reasoning == plain.reasoning == REPLY.reasoning
    assert [c["function"] for c in streamed.calls] == [c["function"] for c in plain.calls]
    assert streamed.finish == plain.finish == "tool_calls"
    assert streamed.usage == plain.usage
    assert [json.loads(c["function"]["arguments"])["path"] for c in plain.calls] == [
        "a.txt",
        "é.txt",
    ]


def test_a_stream_has_one_event_a_chunk_and_ends_as_the_dialect_says() -> None:
    """With a gap each chunk is one read, so the arrival is visibly incremental."""
    answer = _post(STREAMED, gap=0.01)
    events = _events(answer)
    assert events[-1] == "[DONE]"
    last = json.loads(events[-2])
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] > 0
    assert json.loads(events[-3])["choices"][0]["finish_reason"] == "tool_calls"
    assert len(answer.reads) == len(events) > 15
    assert answer.reads[-1][0] - answer.reads[0][0] > 0.005 * len(events)


def test_usage_comes_in_a_stream_only_if_it_is_asked_for() -> None:
    assert read_reply(_post(_chat(USER, stream=True)).body).usage is None


def test_prompt_tokens_follow_what_arrived() -> None:
    """Each part of a request that a model would see adds its own tokens."""
    base = [{"role": "system", "content": "Be brief."}, USER]
    said: Body = {"role": "assistant", "content": "Aye."}
    thought = {**said, "reasoning_content": "one two three"}
    bodies = [_chat(USER), _chat(*base), _chat(*base, said), _chat(*base, thought)]
    bodies.append(_chat(*base, thought, tools=list(TOOLS)))
    counts = []
    for body in bodies:
        usage = read_reply(_post(body).body).usage
        assert usage
        assert usage["prompt_tokens"] == count(render_prompt(body))
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
        counts.append(usage["prompt_tokens"])
    assert counts == sorted(set(counts))
    assert counts[3] - counts[2] == count("one two three")


def test_a_token_is_four_letters_or_one_other_character() -> None:
    assert count("abcd") == 1
    assert count("abcde, f") == 4
    assert count(" \n ") == 0


def test_ids_follow_from_the_request() -> None:
    once, again = (json.loads(_post(_chat(USER)).body) for _ in range(2))
    other = json.loads(_post(_chat(USER, USER)).body)
    assert once["id"] == again["id"] != other["id"]
    ids = [[c["id"] for c in r["choices"][0]["message"]["tool_calls"]] for r in (once, other)]
    assert len({*ids[0], *ids[1]}) == 4


def test_bad_requests_get_an_error_object() -> None:
    for body, path, status in (
        (b"{", CHAT, 400),
        (b"[]", CHAT, 400),
        ({"model": "m"}, CHAT, 400),
        (_chat(USER), "/v1/chat/completion", 404),
        (b"{", "/v1/messages", 400),
    ):
        answer = _post(body, path)
        assert answer.status == status
        assert json.loads(answer.body)["error"]["message"]


def test_a_key_is_asked_for_only_where_there_is_one() -> None:
    assert _post(_chat(USER), key="k").status == 401
    assert _post(_chat(USER), CHAT, ("authorization", "Bearer x"), key="k").status == 401
    assert _post(_chat(USER), CHAT, ("authorization", "Bearer k"), key="k").status == 200
    assert _post(_chat(USER), "/v1/messages", ("x-api-key", "k"), key="k").status == 200


def test_requests_are_kept_as_they_arrived_over_one_connection() -> None:
    """Odd spacing and double keys stay, since they are evidence."""
    odd = b'{ "model":"m",  "messages":[],"messages" : [] }'

    async def talk(backend: Backend, connection: Connection) -> list[tuple[str, bytes, bool]]:
        await connection.post(CHAT, (), odd)
        first = connection._streams
        await connection.post("/v1/none?x=1", (), b"")
        assert connection._streams is first
        return [(r.path, r.body, r.answered) for r in backend.received]

    assert _talk(_fixed, talk) == [(CHAT, odd, True), ("/v1/none", b"", True)]


def test_models_are_listed() -> None:
    async def talk(backend: Backend, _: Connection) -> bytes:
        port = int(backend.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n")
        data = await reader.read()
        writer.close()
        await writer.wait_closed()
        return data

    body = json.loads(_talk(_fixed, talk, models=("a", "b")).partition(b"\r\n\r\n")[2])
    assert [model["id"] for model in body["data"]] == ["a", "b"]


def test_the_messages_dialect_says_the_same() -> None:
    asked: Body = {"model": "m", "max_tokens": 9, "system": "Be brief.", "messages": [USER]}
    plain = json.loads(_post(asked, "/v1/messages").body)
    kinds = [block["type"] for block in plain["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    assert plain["content"][1]["text"] == REPLY.text
    assert plain["stop_reason"] == "tool_use"
    streamed = _post({**asked, "stream": True}, "/v1/messages")
    events = [json.loads(e.split("data: ")[1]) for e in streamed.body.decode().split("\n\n") if e]
    texts = [e["delta"].get("text", "") for e in events if e["type"] == "content_block_delta"]
    assert "".join(texts) == REPLY.text
    assert events[0]["message"]["usage"]["input_tokens"] == plain["usage"]["input_tokens"]
    assert events[-1]["type"] == "message_stop"


def _tool(name: str, *properties: str) -> Body:
    schema = {"type": "object", "properties": {key: {"type": "string"} for key in properties}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


CODING_TOOLS = [_tool("write", "content", "filePath"), _tool("read", "filePath")]


def _run_coding(messages: list[Body]) -> list[str]:
    """Play a harness: run the script until it calls no tool, and give the calls."""
    seen: list[str] = []
    for _ in range(5):
        reply = coding_script({"messages": messages, "tools": CODING_TOOLS})
        messages.append({"role": "assistant", "content": reply.text})
        assert reply.reasoning
        if not reply.calls:
            return [*seen, reply.text]
        for call in reply.calls:
            seen.append(f"{call.name} {call.arguments['filePath']}")
            messages.append({"role": "tool", "tool_call_id": "x", "content": "done"})
    raise AssertionError("the tool loop does not end")


def test_the_coding_script_writes_reads_and_answers_in_each_turn() -> None:
    told = {"role": "system", "content": "You code.\n  Working directory: /home/dev/x\n"}
    messages: list[Body] = [told, {"role": "user", "content": '"Write a game to ttt.py"'}]
    first = _run_coding(messages)
    assert first[:2] == ["write /home/dev/x/ttt.py", "read /home/dev/x/ttt.py"]
    assert "request 1" in first[2]
    messages.append({"role": "user", "content": "Continue with a readme"})
    second = _run_coding(messages)
    assert second[:2] == ["write /home/dev/x/request-2.txt", "read /home/dev/x/request-2.txt"]
    assert "request 2" in second[2]


def test_the_coding_script_says_so_where_the_history_is_gone() -> None:
    lost = [{"role": "user", "content": "Continue with a readme"}]
    reply = coding_script({"messages": lost, "tools": CODING_TOOLS})
    assert "very first message" in reply.text
    assert reply.calls == ()


def test_the_coding_script_gives_side_requests_a_title_or_a_summary() -> None:
    title = coding_script({"messages": [{"role": "user", "content": "Generate a title: x"}]})
    assert title.text == "A small file, written and read"
    assert "1 requests" in coding_script({"messages": [USER]}).text
