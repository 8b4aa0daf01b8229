"""output.foreign_content"""

from dataclasses import replace
from typing import Any

import pytest
from rules.builders import MESSAGES, conversation, findings, headed, pointers, skips, traffic, turn

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message, assistant, system, tool, user
from proxyaudit.core.turn import Turn
from proxyaudit.rules.isolation.particulars import particulars

RULE = "output.foreign_content"
BOOK = "Book cabin K-4417 for Odalys Fenwright on the Brindle line, Tuesday."
LEAK = "The cabin K-4417 for Odalys Fenwright is confirmed; the Brindle line leaves on Tuesday."
OATS = user("How many grams are two cups of oats?")


def clerk(*more: Message, at: float = 0, **rest: Any) -> Turn:
    said = more or (user(BOOK),)
    return turn(system("Travel clerk."), *said, reply="Booked.", id="a", started_at=at, **rest)


def cook(reply: Any = LEAK, *more: Message, at: float = 1.5, **rest: Any) -> Turn:
    asked = (system("You convert recipe units."), *(more or (OATS,)))
    return turn(*asked, reply=reply, id="b", started_at=at, **rest)


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (BOOK, LEAK),
        ("Order 88213 of Marisol Quent goes to Pier 9.", "Your order 88213, Marisol Quent, is out."),
        ("Write to ines@weir.example about the Halden Mill.", "I wrote to ines@weir.example."
         " The man at Halden Mill will answer."),
        ("Call Tamsin Oakhurst about the Rowan garden.", "I shall call Tamsin Oakhurst about the"
         " Rowan garden."),
        ("Locker 7731-B opens with QX-9902.", "The locker 7731-B opens with QX-9902."),
    ],
)  # fmt: skip
def test_particulars_of_another_conversation(told: str, reply: str) -> None:
    found = findings(RULE, traffic(clerk(user(told)), cook(reply)))
    assert [f.places[0].exchange for f in found] == ["b"]
    assert pointers(found) == ["/choices/0/message/content"]
    assert [(p.exchange, p.pointer) for p in found[0].before] == [("a", "/messages/1")]


def test_from_a_tool_result_into_another_dialect() -> None:
    other = clerk(user("Look up."), assistant("So."), tool("t", BOOK), dialect=MESSAGES)
    assert findings(RULE, traffic(other, cook()))


def test_the_answer_is_as_foreign_when_the_conversation_goes_on_with_it() -> None:
    """The agent sends what it was answered back, in each of its later requests."""
    later = cook("180 grams.", OATS, assistant(LEAK), user("And the oats?"), at=5)
    later = replace(later, exchange=replace(later.exchange, id="c"))
    found = findings(RULE, traffic(clerk(), [cook(), later]))
    assert [f.places[0].exchange for f in found] == ["b"]


def test_near_miss_what_a_tool_tells_later_was_no_secret() -> None:
    later = cook("180 grams.", OATS, assistant(LEAK), tool("t", BOOK), at=5)
    assert findings(RULE, traffic(clerk(), [cook(), later])) == []


def test_one_of_many_conversations() -> None:
    others = [turn(user(f"Question {n} of ours?"), id=f"o{n}") for n in range(5)]
    assert findings(RULE, traffic(clerk(), cook(), *others))


LAWFUL: list[tuple[Turn, Turn]] = [
    (clerk(), cook("Two cups of oats are 180 grams.")),
    (clerk(), cook(LEAK, user(BOOK + " And the oats?"))),
    (clerk(), cook(LEAK, OATS, assistant("Fine."), tool("t", BOOK))),
    (clerk(at=9), cook(LEAK)),
    (clerk(user("When is it?"), assistant(BOOK), user("Thanks.")), cook()),
    (clerk(user("Two plus two?")), cook("4")),
    (clerk(user("We met on Tuesday in 2026 at 10:41.")), cook("On Tuesday in 2026 at 10:41.")),
    (clerk(user("Use UTF-8 and SHA-256 on port 8080.")), cook("In UTF-8, SHA-256, port 8080.")),
    (clerk(user("Visit New York and Central Park with us.")),
     cook("Two cups of oats weigh 180 grams, as they say in New York near Central Park.")),
    (clerk(), cook("K-4417")),
    (clerk(), cook(status=500)),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), LAWFUL)
def test_near_miss_known_here_told_later_or_common(first: Turn, second: Turn) -> None:
    assert findings(RULE, traffic(first, second)) == []


def related() -> list[tuple[Conversation, Conversation]]:
    a, b = conversation(clerk()), conversation(cook())
    mark = {"user": "u-1"}
    same = [conversation(made) for made in (clerk(settings=mark), cook(settings=mark))]
    twins = [turn(OATS, user(BOOK), id="a"), turn(OATS, reply=LEAK, id="b", started_at=2)]
    return [
        (replace(a, id="c1", session="s"), replace(b, id="c2", session="s")),
        (replace(a, id="c1"), replace(b, id="c2", parent="c1")),
        (replace(a, id="c1", parent="c2"), replace(b, id="c2")),
        (same[0], same[1]),
        (conversation(twins[0]), conversation(twins[1])),
    ]


@pytest.mark.parametrize(("first", "second"), related())
def test_near_miss_related_conversations(first: Conversation, second: Conversation) -> None:
    assert findings(RULE, traffic(first, second)) == []


def test_near_miss_what_three_conversations_know_is_common() -> None:
    others = [turn(system(f"Clerk {n}."), user(f"{n}. {BOOK}"), id=f"o{n}") for n in range(3)]
    assert findings(RULE, traffic(*others, cook())) == []


def test_a_single_conversation_has_no_strangers() -> None:
    made = traffic([clerk(), headed(cook())])
    assert skips(RULE, made) == ["there is only one conversation"]


def test_what_points_at_one_thing() -> None:
    text = "See Ines at ines@weir.example, K-4417, order 88213; not 2026-09-21, v1.2.3 or UTF-8."
    assert [p.word for p in particulars(text)] == ["ines", "ines@weir.example", "k-4417", "88213"]


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        ("Unlock the door with code 7741-QP.", "Code 7741-QP was accepted: the door is unlocked."),
        ("Send the bill to olwen@marrowby.test please.", "The bill went to olwen@marrowby.test."),
        ("Call 0455 199 8712 tonight.", "I shall call 0455 199 8712 tonight."),
        ("Ilsabet Quorn takes varilol each evening.", "Ilsabet Quorn takes it each evening."),
    ],
)
def test_one_code_or_two_names_where_the_reply_speaks_of_nothing_else(
    told: str, reply: str
) -> None:
    assert findings(RULE, traffic(clerk(user(told)), cook(reply)))


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (
            "Fix parse_v1234 in the loader.",
            "Two cups of oats are 180 grams; parse_v1234 is a label.",
        ),
        ("Ask Odalys about the lock.", "Odalys may know how many grams two cups of oats are."),
        (
            "Bake a cake for Odalys Fenwright.",
            "Two cups of oats, says Odalys Fenwright, are 180 g.",
        ),
    ],
)
def test_near_miss_one_word_in_an_answer_to_the_question(told: str, reply: str) -> None:
    assert findings(RULE, traffic(clerk(user(told)), cook(reply))) == []


def test_names_that_open_a_sentence() -> None:
    assert [p.word for p in particulars("Ilsabet Quorn pays. Then we go.")] == ["ilsabet", "quorn"]
    assert [p.word for p in particulars("Ilsabet. Quorn pays. Ilsabet, Quorn")] == ["quorn"]


def test_near_miss_a_product_that_another_conversation_spoke_of_at_length() -> None:
    """A long history holds most of the words that any answer is made of."""
    much = user(
        "An answer about sensors, cheap radio modules, their current and what they need. " * 9
    )
    told = clerk(
        user("Which pins of the ESP8266 from Vendor Espressif wake it?"), assistant("."), much
    )
    reply = "Take the ESP8266: cheap radio modules, little current, and all that sensors need."
    assert findings(RULE, traffic(told, cook(reply, user("What would you take?")))) == []
