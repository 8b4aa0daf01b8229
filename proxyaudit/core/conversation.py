"""Turns whose history grows from one another."""

from dataclasses import dataclass, field
from typing import Literal

from proxyaudit.core.turn import Turn

type ConversationKind = Literal["main", "side", "subagent"]


@dataclass(slots=True)
class Conversation:
    """A thread of turns, in order of time.

    `parent` is the conversation that a subagent, a side request or a fork belongs to. `session` is
    the label the harness sent: it groups conversations and is never trusted alone. `exchanges` are
    all of its exchange ids, failed attempts and retries among them; `turns` are those that count.
    `restarts` is an earlier conversation under the same system prompt that had ended when this one
    began without a history or a label.
    """

    id: str
    kind: ConversationKind = "main"
    parent: str | None = None
    session: str | None = None
    purpose: str = ""
    restarts: str | None = None
    turns: list[Turn] = field(default_factory=list)
    exchanges: list[str] = field(default_factory=list)
