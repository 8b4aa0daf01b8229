"""model.substituted"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from comparing import across_hop
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
    ("name", "given"), [("tern-large", "wren-mini"), ("tern-large", "tern-large-mini"), ("a", "b")]
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
        ("vendor/tern-large", "tern-large"),
        ("tern-large", "/models/vendor/tern-large"),
        ("tern-large", "tern-large.Q4_K_M.gguf"),
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
