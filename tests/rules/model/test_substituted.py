"""model.substituted"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from comparing import across_hop
from hypothesis import given
from hypothesis import strategies as st
from turns import turn

from proxyaudit.core.message import assistant, user
from proxyaudit.core.recording import Assume
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome
from proxyaudit.rules.model.substituted import answered_by_another

NAME = "model.substituted"


def asked(name: str, given: str | None = None) -> Turn:
    made = turn(user("hi"), reply=assistant("ho"))
    assert made.reply
    return replace(
        made,
        prompt=replace(made.prompt, model=name),
        reply=replace(made.reply, model=given or name),
    )


def check(made: Turn, assume: Assume | None = None) -> list[Outcome]:
    outcomes: Iterator[Outcome] = answered_by_another(made, Facts(assume or Assume()))
    return list(outcomes)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("tern-large", "wren-mini"),
        ("tern-large", "tern-large-mini"),
        ("a", "b"),
        ("tern", "tern-mini"),
        ("tern-coder", "/models/Tern/Tern-Coder-Mini-30B-Instruct"),
        ("tern-7b", "tern-70b"),
        ("tern-7b", "tern-70b-instruct"),
        ("tern3-coder", "tern3"),
        ("tern-3", "tern-30"),
        ("tern-4", "tern-4.1"),
        ("tern-4", "tern-4-5"),
        ("tern-3-sonnet", "tern-3-5-sonnet"),
        ("tern-4o-2024-05-13", "tern-4o-2024-08-06"),
        ("tern3-instruct", "tern3-thinking"),
        ("tern-large", "default"),
        ("gpt-4", "gpt-4o"),
    ],
)
def test_another_model(name: str, given: str) -> None:
    found = check(asked(name, given))
    assert [f.message for f in found if isinstance(f, Found)] == [
        f"the model “{given}” answered, and “{name}” was asked for"
    ]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("tern-large", "tern-large"),
        ("tern-large", "tern-large-2026-05-01"),
        ("tern-large", "Tern-Large-FP8"),
        ("tern-large-latest", "tern-large-20260501"),
        ("acme/tern-large:free", "acme/tern-large"),
        ("tern-large[1m]", "tern-large"),
        ("vendor/tern-large", "tern-large"),
        ("tern-large", "/models/vendor/tern-large"),
        ("tern-large", "tern-large.Q4_K_M.gguf"),
        ("tern3-coder", "/models/Tern/Tern3-Coder-30B-A3B-Instruct"),
        ("tern3-coder:30b", "Tern3-Coder-30B-A3B-Instruct-UD-Q4_K_XL.gguf"),
        ("tern3-coder-instruct", "tern3-coder-30b-a3b-instruct-fp8"),
        ("tern2.5-coder", "tern2.5-coder:7b"),
        ("tern-8x7b", "C:\\models\\tern-8x7b-instruct-v0.1.Q5_0.gguf"),
        ("tern-4", "tern-4-0613"),
        ("tern-4o", "tern-4o-2024-08-06"),
        ("tern-sonnet-4", "tern-sonnet-4-20250514"),
        ("tern-2.5-pro", "tern-2.5-pro-preview-05-06"),
        ("vendor/tern-4b", "/hub/models--vendor--Tern-4B/snapshots/0a1b2c3d"),
    ],
)
def test_near_miss_the_same_model_under_another_name(name: str, given: str) -> None:
    assert check(asked(name, given)) == []


def test_near_miss_a_stated_alias() -> None:
    assume = Assume(model_aliases={"coder": ["tern-large"]})
    assert check(asked("coder", "tern-large"), assume) == []


def test_a_proxy_that_asks_for_another() -> None:
    found = across_hop(NAME, asked("tern-large"), asked("wren-mini"))
    assert [f.confidence for f in found] == ["possible"]
    assert across_hop(NAME, asked("tern-large"), asked("tern-large")) == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_name_is_itself(name: str, other: str) -> None:
    """Whatever the names are, comparing them is safe, and the same name is never another."""
    if name:
        assert check(asked(name, name)) == []
        check(asked(name, other))
