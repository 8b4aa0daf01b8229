"""output.budget_spent_thinking"""

import pytest
from rules.builders import RESPONSES, call, findings, pointers, thought, turn, wire

from proxyaudit.core.message import Message, assistant, user
from proxyaudit.core.turn import Usage

RULE = "output.budget_spent_thinking"
LIMIT = {"max_tokens": 100}


def test_nothing_but_reasoning_at_the_limit() -> None:
    made = turn(
        user("Plan."), reply=assistant(reasoning="Alder …"), finish="length", settings=LIMIT
    )
    found = findings(RULE, made)
    assert pointers(found) == ["/choices/0/finish_reason"]
    assert "100" in found[0].message


def test_hidden_reasoning_is_known_by_its_count() -> None:
    usage = Usage(prompt=9, completion=100, reasoning=100)
    made = turn(user("Plan."), reply=Message("assistant", ()), finish="length", usage=usage)
    assert findings(RULE, made)


def test_in_the_responses_format() -> None:
    body = {
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}],
    }
    made = wire({"model": "m", "input": "Plan."}, body, dialect=RESPONSES)
    assert pointers(findings(RULE, made)) == ["/status"]


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (assistant("Alder, Birch and", reasoning="Alder …"), "length"),
        (assistant(reasoning="Alder …"), "stop"),
        (assistant("", thought("Alder …"), call("a")), "length"),
        (Message("assistant", ()), "length"),
    ],
)
def test_near_miss_an_answer_began_or_the_limit_was_not_reached(
    reply: Message, finish: str
) -> None:
    assert findings(RULE, turn(user("Plan."), reply=reply, finish=finish)) == []
