"""How well a history fits a turn that is known, and whether it goes on from it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proxyaudit.compare.align import common_prefix
from proxyaudit.compare.joined import spoken
from proxyaudit.compare.marks import is_chore, is_toolless_chore
from proxyaudit.compare.opening import begins_anew
from proxyaudit.compare.session import Label, states_chore
from proxyaudit.compare.text import similarity
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn

# So alike are two system prompts of one agent whose prompt drifted.
_DRIFTED = 0.8


@dataclass(frozen=True, slots=True)
class Known:
    """A turn as the threader remembers it. `said` is the body and, if whole, the reply."""

    turn: Turn
    conversation: Conversation
    label: Label
    body: tuple[str, ...]
    said: tuple[str, ...]
    system: str
    tools: frozenset[str]
    order: int


@dataclass(frozen=True, slots=True)
class Match:
    """How well a history fits a known turn: messages in common, and how many are lost."""

    known: Known
    common: int
    prefix: int
    lost: int

    @property
    def exact(self) -> bool:
        return self.lost == 0 and self.prefix == len(self.known.said)


def leading_system(messages: Sequence[Message]) -> int:
    """How many system messages stand at the start."""
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


def digests(turn: Turn, messages: Sequence[Message]) -> list[str]:
    """One digest a message; where the dialect may join what was said twice, one a saying."""
    if turn.dialect != "openai-responses":
        return [m.content for m in messages]
    return [said for m in messages for said in spoken(m)]


def match(known: Known, new: Known) -> Match:
    """What a known turn and a new history have in common."""
    prefix = common_prefix(known.said, new.body)
    rest = Counter(known.said[prefix:]) & Counter(new.body[prefix:])
    common = prefix + rest.total()
    return Match(known, common, prefix, len(known.said) - common)


def may_beat(best: Match, known: Known, new: Known) -> bool:
    """Whether it is worth matching at all: see `rank`."""
    begins_alike = bool(known.said and new.body) and known.said[0] == new.body[0]
    longer = min(len(known.said), len(new.body)) >= best.common
    return longer if begins_alike == (best.prefix > 0) else begins_alike


def rank(found: Match, new: Known) -> tuple[object, ...]:
    """A better match ranks higher."""
    known = found.known
    return (
        # Twin agents say much the same; the first message tells them apart.
        found.prefix > 0,
        found.common,
        -found.lost,
        known.label == new.label,
        known.system == new.system,
        known.tools == new.tools,
        known.order,
    )


def belongs(found: Match, new: Known) -> bool:
    """Whether so much is in common that the turn goes on from the known one."""
    known = found.known
    if found.common == 0:
        return False
    other_frame = known.system != new.system and bool(known.tools) != bool(new.tools)
    if known.label.agent != new.label.agent or (other_frame and not found.exact):
        return False
    same_label = known.label.session is not None and known.label.session == new.label.session
    history = _history_length(new.turn.prompt.messages)
    if history == 0:
        extends = found.prefix >= len(known.body) and len(new.body) > len(known.body)
        return extends and (same_label or known.system == new.system)
    if known.system != new.system and not same_label:
        # All that was said, and no system prompt any more: it was lost, or stands among the rest.
        if not new.system and found.lost == 0 and found.common > 1:
            return True
        # A harness may change its instructions (from coding to answering) in mid-conversation.
        if len(known.said) > len(known.body) and known.said[-1] in new.body[:history]:
            return found.common > 1 and found.common * 2 >= history
        return found.prefix >= 2 and found.common * 2 > history
    if found.exact or same_label:
        return True
    return found.common * 2 >= history and not begins_anew(known.conversation.turns, new.turn)


def _history_length(messages: Sequence[Message]) -> int:
    """Body messages up to the last assistant message: the part that is not new."""
    start = leading_system(messages)
    said = (n for n in range(len(messages), start, -1) if messages[n - 1].role == "assistant")
    return next(said, start) - start


def labels_differ(a: Label, b: Label) -> bool:
    """Whether two labels say that these are two sessions, or two agents."""
    both = a.session is not None and b.session is not None
    return (both and a.session != b.session) or a.agent != b.agent


def same_frame(old: Known, new: Known) -> bool:
    """The same system prompt, or nearly, and the same tools: the same agent, whatever became of
    its history."""
    if bool(old.tools) != bool(new.tools):
        return False
    if new.system in ("", old.system):
        return True
    # A drifted prompt (a date, a folder) is the same agent still; another prompt is another agent.
    drifted = similarity(_system_text(old.turn), _system_text(new.turn)) >= _DRIFTED
    return bool(new.tools) and old.tools == new.tools and drifted


def _system_text(turn: Turn) -> str:
    messages = turn.prompt.messages
    return "\n".join(m.text for m in messages[: leading_system(messages)])


def is_side(old: Known, new: Known) -> bool:
    """A request without tools beside a conversation that has them, or under another system
    prompt, which asks for a chore; with nothing in common the missing tools alone tell. One with
    tools is known by its words: it forbids their use."""
    if new.tools:
        return is_toolless_chore(new.turn.prompt.messages)
    if not (old.tools or new.system not in ("", old.system)):
        return False
    strange = not set(old.said) & set(new.body)
    retold = bool(old.tools) and new.system not in ("", old.system)
    return strange or retold or states_chore(new.turn) or is_chore(new.turn.prompt.messages)


def is_beside(old: Known, new: Known) -> bool:
    """Whether a request was sent before the reply to the old one had come, and holds nothing of
    that reply: a second agent that took a copy of the history with it."""
    exchange = old.turn.exchange
    if old.said == old.body or old.said[-1] in new.body:
        return False
    took = exchange.response.ended_at if exchange.response else None
    began = new.turn.exchange.started_at
    return took is not None and exchange.started_at <= began < exchange.started_at + took
