"""output.repetition"""

from random import Random

import pytest
from rules.builders import MESSAGES, findings, turn, wire

from proxyaudit.core.message import assistant, user
from proxyaudit.rules.output.loops import find_loop

RULE = "output.repetition"
PROSE = "The keeper wrote the wind, the tide and the light into the book each hour. "
LOOPS = [
    "The gate opens when the water is level. " * 70,
    "A lock has two gates. First the upper one. " + "Then it opens, and then it shuts. " * 20,
    "!" * 300,
    "a" * 400,
    "水门打开了。" * 30,
    "\n".join(["I will check the gate again."] * 20),
    "".join(f"Step {n}: now I check the gate once more, and wait for it. " for n in range(40)),
]
LAWFUL = [
    "| hour | boat |\n|---|---|\n" + "".join(f"| {n:02}:00 | ferry 3 |\n" for n in range(60)),
    "```python\n" + "x += step(x)\n" * 60 + "```",
    "x = step(x);\n" * 60,
    "Title\n" + "-" * 300 + "\nText.",
    ", ".join(str(n) for n in range(300)),
    "\n".join(f"{n}. item" for n in range(100)),
    "\n".join(f"7 times {n} is {7 * n}." for n in range(100)),
    "\n".join(f"06:{n:02} ferry\t3\tdock" for n in range(60)),
    "Ho, ho, ho! " * 3,
    "The lock is full. " * 3 + PROSE,
    "",
]


@pytest.mark.parametrize("text", LOOPS)
def test_a_loop(text: str) -> None:
    assert [f.severity for f in findings(RULE, turn(user("Explain."), reply=text))] == [None]


def test_a_loop_in_the_reasoning() -> None:
    made = turn(user("Explain."), reply=assistant("Well.", reasoning="Wait, no. Let me see. " * 40))
    assert "reasoning" in findings(RULE, made)[0].message


def test_a_loop_in_the_messages_format() -> None:
    content = [{"type": "text", "text": LOOPS[0]}]
    body = {"type": "message", "role": "assistant", "content": content, "stop_reason": "max_tokens"}
    made = wire({"model": "m", "messages": []}, body, dialect=MESSAGES)
    assert findings(RULE, made)[0].places[0].pointer == "/content/0"


@pytest.mark.parametrize("text", LAWFUL)
def test_near_miss_tables_code_rulers_and_lists(text: str) -> None:
    alarms = [f for f in findings(RULE, turn(user("Explain."), reply=text)) if f.severity != "info"]
    assert alarms == []


def test_a_refrain_in_the_middle_is_told_at_info() -> None:
    words = Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=2000)
    text = PROSE + "Row, row, row the boat, down the stream. " * 9 + " ".join(words)
    assert [f.severity for f in findings(RULE, turn(user("Sing."), reply=text))] == ["info"]


def test_how_often_and_how_much() -> None:
    loop = find_loop("Now then. " + "one two three four five six " * 30)
    assert loop is not None
    assert (loop.times, loop.text, loop.at_end) == (30, "one two three four five six", True)


def test_words_at_random_are_no_loop() -> None:
    letters = Random(1)
    words = ["".join(letters.choices("abcdefgh", k=3)) for _ in range(20_000)]
    assert find_loop(" ".join(words)) is None


@pytest.mark.parametrize(
    "text",
    [
        "```py\n" + 'print("gate")\n' * 40,
        "Here it is:" + "\n" * 400,
        "Sure. " + "<|im_end|>" * 60,
        "I am sorry. " * 12,
        "\n".join(f"{n}. Oil the hinge." for n in range(40)),
        "| gate | open |\n" * 40,
    ],
)
def test_what_went_on_until_the_token_limit(text: str) -> None:
    made = turn(user("Explain."), reply=text, finish="length")
    assert [f.severity for f in findings(RULE, made)] == [None]
    ended = turn(user("Explain."), reply=text, finish="stop")
    assert [f for f in findings(RULE, ended) if f.severity != "info"] == []


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"| {n} | {n * n} | {n * n * n} |" for n in range(60)),
        "\n".join(f"7 times {n} is {7 * n}." for n in range(60)),
        "```py\n" + "x += step(x)\n" * 8 + "print(x)",
        PROSE * 2 + "The lamp",
    ],
)
def test_near_miss_a_table_or_code_that_was_cut(text: str) -> None:
    assert findings(RULE, turn(user("Explain."), reply=text, finish="length")) == []


def test_near_miss_what_the_user_asked_for() -> None:
    asked = user('Write the line "I will not run in the mill." twenty times.')
    made = turn(asked, reply="I will not run in the mill.\n" * 20)
    assert [f.severity for f in findings(RULE, made)] == ["info"]
    cut = turn(asked, reply="I will not run in the mill.\n" * 90, finish="length")
    assert [f.severity for f in findings(RULE, cut)] == [None]


HTML = "<ul>" + "<li>open</li>" * 30 + "</ul>"


@pytest.mark.parametrize("text", [HTML, "north,open,2\n" * 30, "- gate: open\n  level: 2\n" * 20])
def test_near_miss_fields_and_keys(text: str) -> None:
    assert findings(RULE, turn(user("Give the data."), reply=text)) == []
