"""reasoning.swallowed_answer"""

import pytest
from rules.builders import call, findings, pointers, turn

from proxyaudit.core.message import Message, Opaque, assistant

RULE = "reasoning.swallowed_answer"


@pytest.mark.parametrize("text", ["", " \n"])
def test_reasoning_without_an_answer_is_found(text: str) -> None:
    here = turn(reply=assistant(text, reasoning="Bowline and clove hitch."))
    assert pointers(findings(RULE, here)) == ["/choices/0/message"]


def test_an_answer_beside_it_is_lawful() -> None:
    assert findings(RULE, turn(reply=assistant("Two knots.", reasoning="Bowline."))) == []


def test_a_call_is_an_answer() -> None:
    here = turn(reply=assistant("", call("k"), reasoning="Look it up."), finish="stop")
    assert findings(RULE, here) == []


def test_a_refusal_is_an_answer() -> None:
    refused = Message(
        "assistant", (*assistant("", reasoning="No.").parts, Opaque("refusal", '"no"'))
    )
    assert findings(RULE, turn(reply=refused)) == []


def test_a_budget_that_ran_out_is_another_matter() -> None:
    here = turn(reply=assistant("", reasoning="First, the bowline"), finish="length")
    assert findings(RULE, here) == []


def test_an_empty_reply_is_another_matter() -> None:
    assert findings(RULE, turn(reply=assistant(""))) == []
