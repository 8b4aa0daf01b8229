"""output.denies_history"""

import pytest
from rules.builders import call, findings, pointers, turn

from proxyaudit.core.message import Message, assistant, system, tool, user

RULE = "output.denies_history"
EARLIER = (
    system("You keep the inventory of a shed."),
    user("We own three rakes."),
    assistant("Noted: three rakes."),
    user("Write the list."),
)

DENIALS = [
    "This is the very first message in our conversation, so there is no list yet.",
    "This appears to be the start of our conversation.",
    "It looks like this is the first message you've sent me.",
    "It seems this is our first interaction.",
    "Your message is the first one in this conversation.",
    "This is the first message, so there is nothing to write.",
    "There is no previous conversation to refer to.",
    "There are no earlier messages in this chat.",
    "I don’t have any earlier messages from you.",
    "I do not see any prior messages in our conversation.",
    "I have no record of a previous conversation.",
    "I can't see our previous discussion.",
    "I don't have access to our previous conversation.",
    "I'm not able to see any earlier messages.",
    "I don't have any conversation history.",
    "I don't have any context from earlier in our conversation.",
    "Nothing came before this message.",
    "No messages came before yours.",
    "You haven't told me anything yet.",
    "We haven't discussed anything yet.",
    "Our conversation has just begun, so I can't write that list.",
    "The conversation starts with your request.",
    "I only see your latest message.",
    "This is a new conversation, so I don't have the list.",
    "No previous messages were provided.",
    "There's nothing earlier in our conversation.",
    "**Note:** I don't see any previous messages.",
]
LAWFUL = [
    "I keep no memory of previous conversations.",
    "I don't retain information between conversations.",
    "This is the first message in the queue.",
    "Here is the first question of the quiz.",
    "You haven't told me your dog's name yet.",
    "There are no previous versions of this file.",
    "I don't see any previous commits.",
    "No previous context is needed here.",
    "The session has just started on the server, see the log.",
    "There is no chat history file in this folder.",
    "There are no prior turns in the fixture, so the test passes.",
    "Nothing was written yet.",
    "This is the first message the server sends after login.",
    "We haven't discussed pricing yet.",
    "This is our first priority.",
    "Three rakes.",
]


@pytest.mark.parametrize("text", DENIALS)
def test_a_reply_that_denies_the_history_is_found(text: str) -> None:
    found = findings(RULE, turn(*EARLIER, reply=text))
    assert pointers(found) == ["/choices/0/message/content"]
    assert found[0].confidence == "likely"


@pytest.mark.parametrize("text", LAWFUL)
def test_sentences_about_other_things_are_lawful(text: str) -> None:
    assert findings(RULE, turn(*EARLIER, reply=text)) == []


@pytest.mark.parametrize("text", DENIALS)
@pytest.mark.parametrize("history", [EARLIER[:1] + EARLIER[3:], EARLIER[1:2]])
def test_without_an_earlier_exchange_it_is_the_truth(
    text: str, history: tuple[Message, ...]
) -> None:
    assert findings(RULE, turn(*history, reply=text)) == []


def test_the_steps_of_one_task_are_no_earlier_exchange() -> None:
    history = (user("Read."), assistant("", call("k")), tool("k", "Atlas"))
    assert findings(RULE, turn(*history, reply=DENIALS[0])) == []


@pytest.mark.parametrize(
    "text",
    [
        'The log begins: "This is the first message in our conversation."',
        "The test expects “There are no earlier messages.”",
        "> There are no earlier messages.\n\nThat is what it printed.",
        "```\nThere are no earlier messages.\n```",
        "Three rakes. " * 50 + "There are no earlier messages.",
    ],
)
def test_quotations_code_and_what_stands_deep_inside_are_lawful(text: str) -> None:
    assert findings(RULE, turn(*EARLIER, reply=text)) == []


def test_words_that_the_user_brought_up_are_lawful() -> None:
    asked = (*EARLIER[:3], user("Translate: this is the first message in our conversation"))
    reply = "This is the first message in our conversation: Dies ist die erste Nachricht."
    assert findings(RULE, turn(*asked, reply=reply)) == []
