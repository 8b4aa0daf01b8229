"""Scripts, tokens and the written replies on odd requests: bad traffic is data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.demo import anthropic, chat
from proxyaudit.demo.board import draw, play
from proxyaudit.demo.coding import coding_script
from proxyaudit.demo.script import Body, ScriptedReply, user_turns
from proxyaudit.demo.story import demo_script, expected_result

_WORDS = ("role", "content", "user", "tool", "text", "tool_calls", "function", "type", "name")
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(_WORDS) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)
_BODIES = st.fixed_dictionaries({"messages": st.lists(_JSON, max_size=4), "tools": _JSON})


@pytest.mark.parametrize("script", [demo_script, coding_script])
@pytest.mark.parametrize("wire", [chat, anthropic])
@given(body=_BODIES)
def test_a_script_answers_whatever_comes(script: object, wire: chat.Wire, body: Body) -> None:
    told = wire.as_chat(body)
    reply = (demo_script if script is demo_script else coding_script)(told)
    assert isinstance(reply, ScriptedReply)
    assert reply.text or reply.calls
    assert wire.plain(body, reply)["usage"]
    assert len(list(wire.stream(body, reply))) > 2


def test_messages_requests_read_as_the_chat_requests_they_stand_for() -> None:
    """Tool results become messages of their own, thinking becomes reasoning, system comes first."""
    use = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
    body: Body = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, use]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "data"}],
            },
        ],
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    }
    call = {"function": {"name": "read", "arguments": '{"path":"a"}'}}
    assert anthropic.as_chat(body)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": "data"},
    ]


def test_user_messages_in_a_row_are_one_turn() -> None:
    roles = ("system", "user", "user", "assistant", "tool", "assistant", "user")
    assert user_turns({"messages": [{"role": role} for role in roles]}) == 2


def test_the_board_follows_from_the_moves() -> None:
    """O stops X from closing a line, and a move on a taken cell counts for nothing."""
    assert play(["b2", "c1"])["a3"] == "O"
    assert play(["b2", "b2", "z9"]) == play(["b2"])
    assert draw(play(["b2"])) == "  a b c\n1 O · ·\n2 · X ·\n3 · · ·"
    assert expected_result().startswith(draw(play(["b2", "c1", "a2"])))
