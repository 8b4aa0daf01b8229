"""Who was told what, and when: the particulars of everything that was put to a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.isolation.kin import families
from proxyaudit.rules.isolation.particulars import Particular, content_words, particulars

# What so many conversations know is nobody's own.
_COMMON = 3


class Told(NamedTuple):
    """Where a conversation was told a particular for the first time; seconds since the epoch."""

    at: float
    turn: Turn
    message: Message


@dataclass(slots=True)
class Knowledge:
    """By particular and conversation. What a model said first is not told but made up."""

    _told: dict[str, dict[str, Told]] = field(default_factory=dict)
    # By whom a word was told that no model said: users, tools, instructions.
    _heard: dict[str, set[str]] = field(default_factory=dict)
    _kin: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, conversations: Sequence[Conversation]) -> "Knowledge":
        made = cls(_kin=families(conversations))
        for conversation in conversations:
            made._learn(conversation)
        return made

    def _learn(self, conversation: Conversation) -> None:
        seen: set[str] = set()
        for turn in conversation.turns:
            for message in turn.prompt.messages:
                if message.content in seen:
                    continue
                seen.add(message.content)
                told = Told(turn.exchange.started_at, turn, message)
                for word in {p.word for p in particulars(message.text)}:
                    self._told.setdefault(word, {}).setdefault(conversation.id, told)
                    if message.role != "assistant":
                        self._heard.setdefault(word, set()).add(conversation.id)

    def strangers(
        self, word: str, own: Conversation, since: float, until: float
    ) -> dict[str, Told]:
        """The unrelated conversations that were told a word `until` a reply had come; none if it
        is known here, or to many.

        What the model itself brought up, in the reply that was asked for at `since`, stands in the
        history ever after: by that nothing is known here.
        """
        told = self._told.get(word, {})
        others = {id_: where for id_, where in told.items() if id_ != own.id}
        here = own.id in told and told[own.id].at <= since
        if here or own.id in self._heard.get(word, ()) or len(others) >= _COMMON:
            return {}
        return {
            id_: where
            for id_, where in others.items()
            if where.at <= until
            and where.message.role != "assistant"
            and not self._kin[id_] & self._kin[own.id]
        }


def is_in_prompt(word: str, turn: Turn) -> bool:
    """Whether a word stands anywhere in what was sent, as part of another word, too."""
    return any(word in text.casefold() for text in _sent(turn))


def share(words: set[str], messages: Sequence[Message]) -> float:
    """Which part of some words stands in what others than the model put into messages."""
    told = [content_words(m.text) for m in messages if m.role != "assistant"]
    return len(words & set().union(*told)) / max(1, len(words))


def said(turn: Turn) -> tuple[str, list[Particular]]:
    """What a reply says, in its text and its calls, and the particulars in it."""
    message = turn.reply.message if turn.reply else None
    if message is None:
        return "", []
    text = "\n".join([message.text, *(call.arguments for call in message.calls)])
    return text, list(dict.fromkeys(particulars(text)))


def _sent(turn: Turn) -> Iterator[str]:
    for message in turn.prompt.messages:
        yield message.text
        yield message.reasoning
        yield from (call.arguments for call in message.calls)
    yield from (tool.definition for tool in turn.prompt.tools)
