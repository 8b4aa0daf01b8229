"""reasoning.in_content"""

import pytest
from rules.builders import findings, pointers, said, streamed, turn

from proxyaudit.core.message import assistant, system, user

RULE = "reasoning.in_content"


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nThey want one line.\n</think>\n\nA ramp.",
        "\n<thinking>One line.</thinking>A ramp.",
        "<think>No end in sight",
        "[THINK]One line.[/THINK]A ramp.",
        "◁think▷One line.◁/think▷A ramp.",
        "<|channel|>analysis<|message|>One line.<|end|>",
        "<|start|>assistant<|channel|>analysis<|message|>One line.",
        "analysisThe user wants one line.assistantfinalA ramp.",
        "<|START_THINKING|>One line.<|END_THINKING|>A ramp.",
        "<seed:think>One line.</seed:think>A ramp.",
        "They want one line.\n</think>\n\nA ramp.",
        "They want one line.</think>\nA ramp.",
        "They want one line. Keep it short.</think>A ramp. It leads into the water.",
        "They want one line. </think> A ramp.",
        "I look.\n<think>\nOne line.\n</think>\nA ramp.",
    ],
)
def test_thinking_in_the_text_is_found(text: str) -> None:
    found = findings(RULE, turn(user("What is a slipway?"), reply=text))
    assert pointers(found) == ["/choices/0/message/content"]
    assert found[0].severity is None


@pytest.mark.parametrize(
    "text",
    [
        "A ramp.",
        "Models put their notes between <think> and </think>, and parsers cut them out.",
        "Use `<think>` and `</think>`.",
        "The notes end with </think>, and the text begins. It is cut there.",
        "What closes them? A </think> tag does. Nothing else.",
        "So:\n```xml\n<think>\nnotes\n</think>\n```\nThat is all.",
        "Close it with `</think>`\nand go on.",
        "<think> is the tag that opens the notes, and </think> closes it.",
        "analysis of the weir: it is open.",
        "I think, therefore a ramp.",
        "<thinker>Rodin</thinker>",
    ],
)
def test_prose_and_code_that_mention_the_tag_are_lawful(text: str) -> None:
    assert findings(RULE, turn(user("What is a slipway?"), reply=text)) == []


def test_a_stream_is_read_as_a_whole() -> None:
    here = streamed(said("<thi"), said("nk>One line.</th"), said("ink>A ramp."))
    assert pointers(findings(RULE, here)) == ["/stream"]


def test_a_request_that_asks_for_the_tag_gets_it() -> None:
    here = turn(system("Think in <think> tags."), user("Go."), reply="<think>Hm.</think>Yes.")
    assert [f.severity for f in findings(RULE, here)] == ["info"]


def test_reasoning_in_its_field_is_lawful() -> None:
    assert findings(RULE, turn(reply=assistant("A ramp.", reasoning="One line."))) == []
