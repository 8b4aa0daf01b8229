"""What a replay found: each turn as recorded and as answered here, side by side."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from proxyaudit.core.exchange import End, Tap

type ReplayVerdict = Literal[
    "same",
    "other text",
    "other finish",
    "other tool calls",
    "other structure",
    "other prompt",
    "no reply",
    "nothing recorded",
]

# Two answers of a model that samples differ in words, and so in where they stop. Only these tell
# that something else than the model's dice was at work.
FAULTS = frozenset[ReplayVerdict](
    {"other tool calls", "other structure", "other prompt", "no reply"}
)


@dataclass(frozen=True, slots=True)
class Both[T]:
    """One thing, as recorded and as it was here."""

    recorded: T
    here: T

    @property
    def equal(self) -> bool:
        return self.recorded == self.here


@dataclass(frozen=True, slots=True)
class CallsCompared:
    """Tool calls in order: their names, and whether names and arguments (as JSON) are equal."""

    names: Both[tuple[str, ...]]
    same_names: bool
    same_arguments: bool
    difference: str = ""


@dataclass(frozen=True, slots=True)
class TextCompared:
    """Visible text: similarity from 0 to 1; where it differs first, with a few words of both.

    `at` counts characters from 0 and is None where the texts are equal.
    """

    equal: bool
    similarity: float
    at: int | None = None
    excerpt: Both[str] | None = None


@dataclass(frozen=True, slots=True)
class ReplayedTurn:
    """One request sent again. `number` counts from 1 in this replay, `turn` in its conversation.

    Counts are in tokens, times in seconds since the request; None where not reported or not
    timed. `structure` lists what differs in kind, in words.
    """

    number: int
    exchange: str
    replayed_as: str
    conversation: str | None
    turn: int | None
    verdict: ReplayVerdict
    summary: str
    prompt_tokens: Both[int | None]
    status: Both[int | None]
    end: Both[End]
    model: Both[str | None]
    structure: tuple[str, ...]
    finish: Both[str | None]
    calls: CallsCompared
    text: TextCompared
    reasoning: Both[bool]
    first_byte: Both[float | None]
    total: Both[float | None]

    @property
    def name(self) -> str:
        """How to speak of it: its turn in the conversation, else its place in the replay."""
        return f"turn {self.turn}" if self.turn else f"request {self.number}"

    @property
    def tokens_differ(self) -> bool:
        """Whether both counts are known and not equal."""
        pair = self.prompt_tokens
        return None not in (pair.recorded, pair.here) and not pair.equal


@dataclass(frozen=True, slots=True)
class NotReplayed:
    """A recorded exchange that was not sent, and why, in a few words."""

    exchange: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """All of one replay. `planned` counts the requests that were to be sent.

    `interrupted` says that it was ended early, and `turns` holds what had been done.
    """

    recording: str
    target: str
    tap: Tap
    model: str | None
    planned: int
    turns: tuple[ReplayedTurn, ...]
    not_replayed: tuple[NotReplayed, ...] = ()
    interrupted: bool = False

    @property
    def faults(self) -> tuple[ReplayedTurn, ...]:
        """Turns that differ in more than the words of the answer."""
        return tuple(turn for turn in self.turns if turn.verdict in FAULTS)


class ReplayDocument(BaseModel):
    """The whole of `replay --format json`."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_: Literal["proxyaudit.replay/1"] = Field(default="proxyaudit.replay/1", alias="schema")
    headline: str
    written_to: str = Field(description="the new recording")
    recording: str
    target: str
    tap: Tap
    model: str | None = Field(description="the model name put in; null: as recorded")
    planned: int
    interrupted: bool
    turns: list[ReplayedTurn]
    not_replayed: list[NotReplayed]
