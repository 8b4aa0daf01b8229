"""Ollama's chat format."""

import json

import pytest

from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Reasoning, ToolCall, ToolResult
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.ollama_chat import DIALECT
from proxyaudit.dialects.openai_chat import DIALECT as CHAT
from proxyaudit.dialects.read import read_turn
from proxyaudit.engine import audit


def called(*names: str, **more: JSON) -> JSONObject:
    calls: list[JSON] = [{"function": {"name": name, "arguments": {"n": 1}}} for name in names]
    return {"role": "assistant", "content": "", "tool_calls": calls, **more}


def result(text: str, name: str = "") -> JSONObject:
    tool: JSONObject = {"tool_name": name} if name else {}
    return {"role": "tool", "content": text, **tool}


def says(role: str, text: str) -> JSONObject:
    return {"role": role, "content": text}


def exchange(id_: str, messages: list[JSONObject], reply: JSONObject, at: float = 0.0) -> Exchange:
    tools: list[JSON] = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
        for name in ("read", "list")
    ]
    ask = {"model": "m", "stream": False, "messages": messages, "tools": tools}
    answer = {"model": "m", "message": reply, "done": True, "done_reason": "stop"}
    counts = {"prompt_eval_count": 10 + 30 * len(messages), "eval_count": 5}
    request = Request("POST", "http://h/api/chat", (), json.dumps(ask).encode())
    response = Response(200, (), json.dumps({**answer, **counts}).encode(), ended_at=0.5)
    return Exchange(id_, "client", 100 + at, request, response)


def test_a_request_is_read() -> None:
    body: JSONObject = {
        "model": "m",
        "messages": [
            says("system", "Be terse."),
            {"role": "user", "content": "Look.", "images": ["QUJD"]},
            called("read", thinking="Read it first."),
            result("text", "read"),
        ],
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {}}}],
        "options": {"num_ctx": 4096, "num_predict": 9, "mirostat": 1},
        "think": True,
        "keep_alive": "5m",
    }
    prompt = DIALECT.read_prompt(body)
    assert [m.role for m in prompt.messages] == ["system", "user", "assistant", "tool"]
    assert prompt.messages[2].parts == (
        Reasoning("Read it first."),
        ToolCall("no id: read 1", "read", '{"n":1}'),
    )
    assert prompt.messages[3].parts == (ToolResult("no id: read 1", "text"),)
    assert prompt.messages[2].parts[1].pointer == "/messages/2/tool_calls/0"
    assert [tool.name for tool in prompt.tools] == ["read"]
    assert prompt.stream
    assert prompt.settings == {
        "num_ctx": 4096,
        "max_tokens": 9,
        "options": {"mirostat": 1},
        "think": True,
        "keep_alive": "5m",
    }
    assert prompt.setting_pointers["max_tokens"] == "/options/num_predict"


def test_an_image_is_the_same_image_in_chat_completions() -> None:
    here = DIALECT.read_prompt(
        {"messages": [{"role": "user", "content": "Look.", "images": ["QUJD"]}]}
    )
    image: JSONObject = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
    content: list[JSON] = [{"type": "text", "text": "Look."}, image]
    there = CHAT.read_prompt({"messages": [{"role": "user", "content": content}]})
    assert here.messages[0].content == there.messages[0].content


@pytest.mark.parametrize(
    ("results", "ids"),
    [
        (["read", "list", "read"], ["read 1", "list 1", "read 2"]),
        (["list", "read", "read"], ["list 1", "read 1", "read 2"]),
        (["", "", ""], ["read 1", "read 2", "list 1"]),
        (["read", "read", "read"], ["read 1", "read 2", "read without a call"]),
        (["other"], ["other without a call"]),
    ],
)
def test_results_are_paired_by_tool_and_order(results: list[str], ids: list[str]) -> None:
    """Older clients do not even say the tool."""
    messages: list[JSON] = [called("read", "read", "list"), *(result("x", r) for r in results)]
    told = DIALECT.read_prompt({"messages": messages}).messages
    assert [r.call_id for m in told for r in m.results] == [f"no id: {id_}" for id_ in ids]


def test_ids_that_were_sent_stay() -> None:
    """Newer servers give ids."""
    said = called("read", "list")
    for number, call in enumerate(said["tool_calls"]):  # type: ignore[arg-type]
        call["id"] = f"call_{number}"  # type: ignore[index,call-overload]
    answers = [{**result("x", "list"), "tool_call_id": "call_1"}, result("y", "read")]
    told = DIALECT.read_prompt({"messages": [said, *answers]}).messages
    assert [c.id for c in told[0].calls] == ["call_0", "call_1"]
    assert [r.call_id for m in told for r in m.results] == ["call_1", "call_0"]


def test_a_conversation_with_tools_is_clean() -> None:
    """The same tools called again and again, in parallel too, without any id."""
    history = [says("user", "Read both files and list the folder.")]
    exchanges = []
    replies = [
        called("read", "read"),
        called("read", "list"),
        called("read"),
        says("assistant", "Done."),
    ]
    for number, reply in enumerate(replies):
        exchanges.append(exchange(str(number), list(history), reply, at=number))
        history.append(reply)
        calls = reply.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            name = str(call["function"]["name"])  # type: ignore[index,call-overload]
            history.append(result(f"text {len(history)}", name))
    report = audit(Recording("x", tuple(exchanges))).report
    assert [c.exchanges for c in report.conversations] == [["0", "1", "2", "3"]]
    assert report.findings == []


def test_lost_calls_and_results_are_found() -> None:
    start = [says("user", "Read it."), called("read", "list"), result("a", "read")]
    unanswered = audit(Recording("x", (exchange("1", start, says("assistant", "Done.")),))).report
    assert [f.rule for f in unanswered.findings] == ["tool.unanswered_call"]
    orphan = [says("user", "Read it."), result("a", "read")]
    found = audit(Recording("x", (exchange("1", orphan, says("assistant", "Done.")),))).report
    assert [f.rule for f in found.findings] == ["tool.orphan_result"]


def test_a_client_that_leaves_ids_out_is_no_alarm() -> None:
    """The reply has an id, the history that comes back has none: nothing is lost with it."""
    ask = says("user", "Read the file, please.")
    reply = called("read")
    with_id = json.loads(json.dumps(reply))
    with_id["tool_calls"][0]["id"] = "call_x"
    first = exchange("1", [ask], with_id)
    second = exchange("2", [ask, reply, result("a", "read")], says("assistant", "Done."), at=1)
    report = audit(Recording("x", (first, second))).report
    assert [c.exchanges for c in report.conversations] == [["1", "2"]]
    assert report.findings == []


def test_a_dropped_message_is_found() -> None:
    history = [says("user", "One."), says("assistant", "First."), says("user", "Two.")]
    first = exchange("1", history, says("assistant", "Second."))
    later = [history[0], *history[2:], says("assistant", "Second."), says("user", "Three.")]
    second = exchange("2", later, says("assistant", "Third."), at=1)
    found = audit(Recording("x", (first, second))).report.findings
    assert [(f.rule, f.before[0].pointer) for f in found] == [("message.dropped", "/messages/1")]


def test_an_error_and_an_unfinished_reply() -> None:
    assert DIALECT.read_reply({"error": "model not found"}).error == "model not found"
    reply = DIALECT.read_reply({"message": says("assistant", "a"), "done": False})
    assert (reply.finish, reply.usage) == (None, None)


def test_only_its_own_path_counts() -> None:
    body = json.dumps({"messages": [says("user", "hi")]}).encode()
    names = {}
    for path in ("/api/chat", "/proxy/api/chat/", "/v1/chat/completions", "/api/other"):
        turn = read_turn(Exchange("x", "client", 0.0, Request("POST", f"http://h{path}", (), body)))
        assert isinstance(turn, Turn)
        names[path] = turn.dialect
    assert set(names.values()) == {"ollama-chat", "openai-chat"}
    assert [path for path, name in names.items() if name == "ollama-chat"] == [
        "/api/chat",
        "/proxy/api/chat/",
    ]
