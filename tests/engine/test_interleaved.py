"""Two conversations without labels, in any order and every dialect, are told apart from bytes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replies import BODIES
from stories import EPOCH, EXAMPLES, texts

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response
from proxyaudit.core.message import Message, ToolCall, assistant, system, tool, unnamed, user
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Prompt, Tool
from proxyaudit.dialects.read import dialect_named
from proxyaudit.engine import audit

# The old completions send one text: they have no history to tell conversations by.
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "openai-responses": "/v1/responses",
    "ollama-chat": "/api/chat",
    "gemini": "/v1beta/models/m:generateContent",
}
NO_IDS = ("ollama-chat", "gemini")
TOOLS = (Tool("read", '{"description":"Read.","parameters":{"type":"object"}}'),)


@st.composite
def histories(draw: st.DrawFn, name: str) -> list[tuple[tuple[Message, ...], Message]]:
    """(history, reply) of each turn, with a tool call where it is drawn; both share a system."""
    messages = [system("You keep a shed."), user(f"{name}: {draw(texts())}")]
    turns = []
    for number in range(draw(st.integers(1, 4))):
        if draw(st.booleans()):
            path = json.dumps({"path": f"{name}-{number}"}, separators=(",", ":"))
            call = ToolCall(f"call_{name}_{number}", "read", path)
            said = assistant("", call)
            news = tool(call.id, f"{name} {number} {draw(texts())}")
        else:
            said = assistant(f"{name} {number} {draw(texts())}.")
            news = user(f"{name}, {number}: {draw(texts())}")
        turns.append((tuple(messages), said))
        messages += [said, news]
    return turns


def without_ids(message: Message) -> Message:
    """Formats that have no ids tell calls by tool and order."""
    calls = tuple(ToolCall(unnamed(c.name, 1), c.name, c.arguments) for c in message.calls)
    if message.results:
        return tool(unnamed("read", 1), message.results[0].text)
    return assistant("", *calls) if calls else message


def sent(name: str, at: int, history: tuple[Message, ...], said: Message) -> Exchange:
    """The bytes of a turn; `at` is its place in time and its id."""
    dialect = dialect_named(name)
    assert dialect is not None
    if name in NO_IDS:
        history, said = tuple(map(without_ids, history)), without_ids(said)
    body = json.dumps(dialect.write_prompt(Prompt(history, TOOLS, model="m"))).encode()
    answer = json.dumps(BODIES[name](said)).encode()
    kind = (("content-type", "application/json"),)
    return Exchange(
        str(at),
        "client",
        EPOCH + at,
        Request("POST", f"http://model.test{PATHS[name]}", kind, body),
        Response(200, kind, answer, chunks=(Chunk(0.5, len(answer)),), ended_at=0.5),
    )


@pytest.mark.parametrize("name", PATHS)
@given(one=histories("alpha"), two=histories("omega"), data=st.data())
@settings(max_examples=2 * EXAMPLES)
def test_any_interleaving_is_separated(
    name: str,
    one: list[tuple[tuple[Message, ...], Message]],
    two: list[tuple[tuple[Message, ...], Message]],
    data: st.DataObject,
) -> None:
    order = data.draw(st.permutations([True] * len(one) + [False] * len(two)))
    left = {True: iter(one), False: iter(two)}
    exchanges = [sent(name, at, *next(left[side])) for at, side in enumerate(order)]
    audited = audit(Recording("mixed", tuple(exchanges)))
    expected = [[str(at) for at, side in enumerate(order) if side is which] for which in left]
    assert sorted(c.exchanges for c in audited.conversations) == sorted(expected)
    # These servers give every answer the same finish and the same counts, whatever it holds.
    alarms = [f for f in audited.report.findings if f.severity != "info"]
    assert {f.rule for f in alarms} <= {"tool.finish_mismatch", "usage.inconsistent"}
