"""param.dropped and param.changed"""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.builders import CHAT, MESSAGES, findings, hop, pointers, turn

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.json import JSON
from proxyaudit.core.message import user
from proxyaudit.rules.base import Found
from proxyaudit.rules.params.differences import same

DROPPED, CHANGED = "param.dropped", "param.changed"
type Settings = dict[str, JSON]


def sent_on(
    left: Settings, right: Settings, *, tools: tuple[str, ...] = ("t",), dialect: str = CHAT
) -> Comparison:
    client = turn(user("Go."), settings=left, tools=tools)
    upstream = turn(user("Go."), settings=right, tools=tools, tap="upstream", dialect=dialect)
    return hop(client, upstream)


def all_of(both: Comparison) -> list[Found]:
    return findings(DROPPED, both) + findings(CHANGED, both)


@pytest.mark.parametrize(
    ("left", "right", "pointer"),
    [
        ({"stop": ["END"], "max_tokens": 60}, {"max_tokens": 60}, "/stop"),
        ({"seed": 11}, {}, "/seed"),
        ({"temperature": 1.0}, {}, "/temperature"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, {}, "/thinking"),
        (
            {"chat_template_kwargs": {"enable_thinking": False, "a": 1}},
            {"chat_template_kwargs": {"a": 1}},
            "/chat_template_kwargs/enable_thinking",
        ),
        ({"tool_choice": "none"}, {}, "/tool_choice"),
        ({"parallel_tool_calls": False}, {}, "/parallel_tool_calls"),
        ({"top_k": 20}, {}, "/top_k"),
    ],
)
def test_a_setting_that_does_not_arrive_is_found(
    left: Settings, right: Settings, pointer: str
) -> None:
    found = findings(DROPPED, sent_on(left, right))
    assert (pointers(found), [f.severity for f in found]) == ([pointer], [None])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"max_tokens": 800}, {"max_tokens": 16}),
        ({"temperature": 0}, {"temperature": 0.8}),
        ({"tool_choice": "none"}, {"tool_choice": "auto"}),
        ({"stop": ["END"]}, {"stop": ["END", "STOP"]}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": True}),
        ({"response_format": {"type": "json_object"}}, {"response_format": {"type": "text"}}),
        ({"thinking": {"budget_tokens": 1024}}, {"thinking": {"budget_tokens": 128}}),
    ],
)
def test_another_value_is_found(left: Settings, right: Settings) -> None:
    both = sent_on(left, right)
    assert [f.severity for f in findings(CHANGED, both)] == [None]
    assert findings(DROPPED, both) == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({}, {"stream_options": {"include_usage": True}, "skip_special_tokens": True}),
        ({"temperature": 1.0}, {"temperature": 1}),
        ({"temperature": 0.1}, {"temperature": 0.10000000149011612}),
        ({"tool_choice": "auto", "n": 1, "presence_penalty": 0.0}, {}),
        ({"parallel_tool_calls": True}, {}),
        ({"logprobs": False}, {}),
        ({"extra_body": {"top_k": 5, "min_p": 0.1}}, {"top_k": 5, "min_p": 0.1}),
        ({"enable_thinking": False}, {"chat_template_kwargs": {"enable_thinking": False}}),
        ({"max_tokens": 9, "max_completion_tokens": 9}, {"max_tokens": 9}),
        ({"stream_options": {"include_usage": True}}, {}),
        (
            {"response_format": {"type": "json_object"}},
            {"response_format": {"type": "json_object", "strict": True}},
        ),
    ],
)
def test_what_gateways_do_lawfully_is_left_alone(left: Settings, right: Settings) -> None:
    """Defaults, renamed limits, unpacked extras; and the last stream options of a plain request."""
    assert all_of(sent_on(left, right)) == []


@pytest.mark.parametrize("name", ["user", "metadata", "store", "prompt_cache_key", "fallbacks"])
def test_fields_for_the_gateway_are_information(name: str) -> None:
    value: JSON = {"a": "b"} if name == "metadata" else "x"
    assert [f.severity for f in all_of(sent_on({name: value}, {}))] == ["info"]


def test_another_dialect_has_no_word_for_everything() -> None:
    both = sent_on({"seed": 1, "temperature": 0.2}, {}, dialect=MESSAGES)
    severities = {f.evidence["parameter"]: f.severity for f in findings(DROPPED, both)}
    assert severities == {"seed": "info", "temperature": None}


def test_a_translator_may_say_thinking_in_other_words() -> None:
    thinking: Settings = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    both = sent_on(thinking, {"reasoning_effort": "high"}, dialect=MESSAGES)
    assert all_of(both) == []
    assert all_of(sent_on(thinking, {}, dialect=MESSAGES))


def test_a_tool_choice_says_nothing_once_the_tools_are_gone() -> None:
    client = turn(settings={"tool_choice": "required"}, tools=["t"])
    assert all_of(hop(client, turn(tap="upstream"))) == []


HUGE = 10**400
NUMBERS = st.one_of(
    st.integers(), st.floats(), st.integers(HUGE - 3, HUGE + 3), st.integers(-HUGE - 3, -HUGE + 3)
)


@given(NUMBERS, NUMBERS)
def test_numbers_of_any_size_are_compared(old: float, new: float) -> None:
    """Integers beyond all floats, infinities and NaN are values like others."""
    assert same(old, old)
    assert same(old, new) == same(new, old)
    assert same({"a": [old]}, {"a": [new]}) == same(old, new)


@pytest.mark.parametrize(
    ("old", "new"), [(HUGE, HUGE + 1), (HUGE, 1.5), (HUGE, inf), (1, nan), (inf, -inf)]
)
def test_other_numbers_differ(old: float, new: float) -> None:
    assert not same(old, new)
    found = findings(CHANGED, sent_on({"seed": old}, {"seed": new}))
    assert pointers(found) == ["/seed"]


@pytest.mark.parametrize("value", [[], {}, ""])
def test_what_says_nothing_is_not_missed(value: JSON) -> None:
    left = turn(user("hi"), settings={"stop": value})
    right = turn(user("hi"), settings={}, tap="upstream")
    assert findings("param.dropped", hop(left, right)) == []
