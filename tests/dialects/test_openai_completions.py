"""The old completions format."""

import json

from hypothesis import given
from hypothesis import strategies as st
from strategies import SETTINGS, WORDS

from proxyaudit.core.exchange import Exchange, Request, Response
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Opaque, Text, assistant, system, user
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Prompt, Turn
from proxyaudit.dialects.openai_completions import DIALECT
from proxyaudit.dialects.read import read_turn
from proxyaudit.engine import audit


def asked(body: JSON, answer: JSON | bytes = None, path: str = "/v1/completions") -> Exchange:
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    request = Request("POST", "http://h" + path, (), json.dumps(body).encode())
    return Exchange("x", "client", 0.0, request, Response(200, (), raw, ended_at=1.0))


def test_a_prompt_is_one_user_message() -> None:
    answer: JSON = {"id": "r", "choices": [{"text": "ho", "finish_reason": "length"}]}
    turn = read_turn(asked({"model": "m", "prompt": "hi", "max_tokens": 3}, answer))
    assert isinstance(turn, Turn)
    assert turn.dialect == "openai-completions"
    assert turn.prompt.messages == (user("hi"),)
    assert turn.prompt.messages[0].pointer == "/prompt"
    assert turn.prompt.settings == {"max_tokens": 3}
    assert turn.reply is not None
    assert (turn.reply.message, turn.reply.finish) == (assistant("ho"), "length")


def test_several_prompts_are_parts_and_numbers_are_opaque() -> None:
    texts = DIALECT.read_prompt({"prompt": ["a", "", "b"]}).messages[0]
    assert [(p.text, p.pointer) for p in texts.parts if isinstance(p, Text)] == [
        ("a", "/prompt/0"),
        ("b", "/prompt/2"),
    ]
    numbers = DIALECT.read_prompt({"prompt": [1, 2]}).messages[0]
    assert numbers.parts == (Opaque("prompt", "[1,2]"),)
    assert DIALECT.read_prompt({"prompt": ""}).messages == ()


def test_only_its_own_path_counts() -> None:
    for path in ("/v1/chat/completions", "/v1/images/generations", "/completion"):
        assert not isinstance(read_turn(asked({"prompt": "a"}, path=path)), Turn)


def test_a_history_is_written_as_its_texts() -> None:
    body = DIALECT.write_prompt(Prompt((system("Be terse."), user("hi"), assistant("ho"))))
    assert body["prompt"] == "Be terse.\n\nhi\n\nho"


PROMPTS = st.builds(
    Prompt,
    messages=st.lists(WORDS, min_size=1, max_size=3).map(
        lambda texts: (Message("user", tuple(Text(text) for text in texts)),)
    ),
    model=st.none() | WORDS,
    stream=st.booleans(),
    settings=SETTINGS,
)


@given(PROMPTS)
def test_a_written_prompt_reads_back_equal(prompt: Prompt) -> None:
    back = DIALECT.read_prompt(json.loads(json.dumps(DIALECT.write_prompt(prompt))))
    assert (back.messages, back.model, back.stream) == (
        prompt.messages,
        prompt.model,
        prompt.stream,
    )
    # A choice among tools, or a schema, is no matter of this format: it is carried as it is.
    assert dict(back.settings) == dict(prompt.settings)


def test_a_stream_owes_usage_only_if_asked() -> None:
    frames = b'data: {"choices":[{"text":"ho","finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    body: JSONObject = {"prompt": "hi", "stream": True}
    assert audit(Recording("x", (asked(body, frames),))).report.findings == []
    body = {**body, "stream_options": {"include_usage": True}}
    found = audit(Recording("x", (asked(body, frames),))).report.findings
    assert [f.rule for f in found] == ["usage.missing"]
