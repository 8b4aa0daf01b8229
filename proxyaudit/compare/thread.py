"""Group turns into conversations: which turn does a history grow from?

A session label in the headers is a hint; content decides. The history of a new turn is looked up
by its digests (an exact extension of an earlier turn and its reply), and scored against the
newest turns of the conversations that share its beginning or its label. Retries are no turns; a
side request is not the next turn of anything; a fork goes on from an earlier turn.

The leading system message is left out of this: it may drift while the conversation goes on.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.compare.align import common_prefix
from proxyaudit.compare.joined import spoken
from proxyaudit.compare.marks import is_chore, is_toolless_chore, summary_index
from proxyaudit.compare.opening import begins_anew, opening
from proxyaudit.compare.session import Label, label, states_chore
from proxyaudit.compare.text import similarity
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import Message, digest
from proxyaudit.core.turn import Turn

# So alike are two system prompts of one agent whose prompt drifted.
_DRIFTED = 0.8
# How many conversations back a summary without a label may belong to.
_RECENT = 64


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a turn belongs. `left` is the turn it goes on from (None: a conversation begins);
    `repeat` says that it is the same request again; `forked` that it left a later turn behind."""

    conversation: Conversation
    left: Turn | None = None
    repeat: bool = False
    forked: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
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
class _Match:
    """How well a history fits a known turn: messages in common, and how many are lost."""

    known: _Known
    common: int
    prefix: int
    lost: int

    @property
    def exact(self) -> bool:
        return self.lost == 0 and self.prefix == len(self.known.said)


@dataclass(slots=True)
class Threader:
    """Place turns one by one, in order of their start."""

    conversations: list[Conversation] = field(default_factory=list)
    _known: list[_Known] = field(default_factory=list)
    _by_said: dict[tuple[int, str], list[_Known]] = field(default_factory=dict)
    _by_prompt: dict[tuple[tuple[str, ...], str, frozenset[str]], _Known] = field(
        default_factory=dict
    )
    _by_first: dict[str, list[Conversation]] = field(default_factory=dict)
    _newest: dict[str, list[_Known]] = field(default_factory=dict)
    _sides: set[str] = field(default_factory=set)
    _by_session: dict[str, list[Conversation]] = field(default_factory=dict)

    def place(self, turn: Turn) -> Placed:
        """Find the conversation of a turn, or begin one."""
        known = self._read(turn)
        placed = self._repeat(known) or self._continue(known) or self._begin(known)
        self._remember(known, placed)
        return placed

    def side_texts(self, conversation: Conversation) -> list[str]:
        """Reply texts of other short conversations: a summary was asked for in one of them."""
        return [
            t.reply.message.text
            for c in self.conversations
            if c is not conversation and (c.id in self._sides or len(c.turns) == 1)
            for t in c.turns[-1:]
            if t.reply and t.reply.message
        ]

    def _read(self, turn: Turn) -> _Known:
        head = leading_system(turn.prompt.messages)
        body = tuple(_digests(turn, turn.prompt.messages[head:]))
        reply = turn.reply.message if turn.ok and turn.reply else None
        said = body if reply is None or reply.is_empty else (*body, *_digests(turn, [reply]))
        system = digest(*(m.content for m in turn.prompt.messages[:head])) if head else ""
        tools = frozenset(t.name for t in turn.prompt.tools)
        pending = Conversation(id="")
        order = len(self._known)
        return _Known(turn, pending, label(turn), body, said, system, tools, order)

    def _repeat(self, new: _Known) -> Placed | None:
        """The same request again: after a failure a retry; after a success only if it has a
        history or a label, for two people may well begin alike."""
        old = self._by_prompt.get((new.body, new.system, new.tools)) if new.body else None
        if old is None or _labels_differ(old.label, new.label):
            return None
        begun = any(m.role == "assistant" for m in new.turn.prompt.messages)
        if old.conversation.turns[0].id == old.turn.id and opening(new.turn.prompt.messages):
            begun = False
        if old.turn.ok and not begun and not new.label.session:
            return None
        return Placed(old.conversation, old.turn, repeat=True)

    def _continue(self, new: _Known) -> Placed | None:
        best: _Match | None = None
        for known in self._candidates(new):
            if best and not _may_beat(best, known, new):
                continue
            match = _match(known, new)
            if _belongs(match, new) and (best is None or _rank(match, new) > _rank(best, new)):
                best = match
        if best is None:
            return self._unlike(new)
        if _labels_differ(best.known.label, new.label):
            return self._begin(new, parent=best.known.conversation)
        if _is_side(best.known, new):
            return self._begin(new, parent=best.known.conversation, side=True)
        if _is_beside(best.known, new):
            return self._begin(new, parent=best.known.conversation)
        return self._go_on(best.known)

    def _go_on(self, old: _Known) -> Placed:
        newest = self._newest[old.conversation.id][-1]
        return Placed(old.conversation, old.turn, forked=newest is not old)

    def _unlike(self, new: _Known) -> Placed | None:
        """Nothing in common with what came before, yet perhaps the same conversation: the same
        label, or a marked summary under the same system prompt."""
        for old in self._labelled(new):
            if not _is_side(old, new) and _same_frame(old, new):
                return self._go_on(old)
        if new.label.session or summary_index(new.turn.prompt.messages[:4]) is None:
            return None
        for old in self._latest(self.conversations[-_RECENT:], new):
            if old.system == new.system and not _is_side(old, new):
                return self._go_on(old)
        return None

    def _labelled(self, new: _Known) -> list[_Known]:
        same = self._by_session.get(new.label.session or "", ())
        return [k for k in self._latest(same, new) if k.label == new.label]

    def _latest(self, conversations: Sequence[Conversation], new: _Known) -> list[_Known]:
        """The newest turn of each conversation that has got a reply: those with tools or without,
        like the new turn, before the others; the most recent first."""
        newest = [
            self._newest[c.id][-1]
            for c in conversations
            if c.id not in self._sides and any(k.turn.ok for k in reversed(self._newest[c.id]))
        ]
        return sorted(
            newest, key=lambda k: (bool(k.tools) == bool(new.tools), k.order), reverse=True
        )

    def _candidates(self, new: _Known) -> Iterable[_Known]:
        found: dict[int, _Known] = {}
        exact = self._extended(new)
        if exact:
            found[exact.order] = exact
        conversations = [c for d in new.body[:1] for c in self._by_first.get(d, ())]
        if new.label.session:
            conversations += self._by_session.get(new.label.session, ())
        elif len(new.body) > 1:
            conversations += self.conversations[-8:]
        for conversation in conversations:
            for known in self._newest[conversation.id][-2:]:
                found[known.order] = known
        return found.values()

    def _extended(self, new: _Known) -> _Known | None:
        """The newest of the turns whose history and reply the new one begins with: the longest."""
        for length in range(len(new.body), 0, -1):
            for known in reversed(self._by_said.get((length, new.body[length - 1]), ())):
                if known.said == new.body[:length]:
                    return known
        return None

    def _begin(self, new: _Known, parent: Conversation | None = None, side: bool = False) -> Placed:
        conversation = Conversation(
            id=f"c{len(self.conversations) + 1}",
            parent=parent.id if parent else None,
            session=new.label.session,
        )
        self.conversations.append(conversation)
        if conversation.session:
            self._by_session.setdefault(conversation.session, []).append(conversation)
        if side:
            self._sides.add(conversation.id)
            conversation.kind = "side"
        return Placed(conversation)

    def _remember(self, new: _Known, placed: Placed) -> None:
        conversation = placed.conversation
        conversation.exchanges.append(new.turn.id)
        if placed.repeat and placed.left:
            ids = [t.id for t in conversation.turns]
            conversation.turns[ids.index(placed.left.id)] = new.turn
        else:
            conversation.turns.append(new.turn)
        known = replace(new, conversation=conversation)
        self._known.append(known)
        newest = self._newest.setdefault(conversation.id, [])
        newest.append(known)
        if not new.body:
            return
        self._by_said.setdefault((len(new.said), new.said[-1]), []).append(known)
        self._by_prompt[new.body, new.system, new.tools] = known
        first = self._by_first.setdefault(new.body[0], [])
        if conversation not in first:
            first.append(conversation)


def leading_system(messages: Sequence[Message]) -> int:
    """How many system messages stand at the start."""
    return next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))


def _digests(turn: Turn, messages: Sequence[Message]) -> list[str]:
    """One digest a message; where the dialect may join what was said twice, one a saying."""
    if turn.dialect != "openai-responses":
        return [m.content for m in messages]
    return [said for m in messages for said in spoken(m)]


def _match(known: _Known, new: _Known) -> _Match:
    prefix = common_prefix(known.said, new.body)
    rest = Counter(known.said[prefix:]) & Counter(new.body[prefix:])
    common = prefix + rest.total()
    return _Match(known, common, prefix, len(known.said) - common)


def _may_beat(best: _Match, known: _Known, new: _Known) -> bool:
    """Whether it is worth matching at all: see `_rank`."""
    begins_alike = bool(known.said and new.body) and known.said[0] == new.body[0]
    longer = min(len(known.said), len(new.body)) >= best.common
    return longer if begins_alike == (best.prefix > 0) else begins_alike


def _rank(match: _Match, new: _Known) -> tuple[object, ...]:
    known = match.known
    return (
        # Twin agents say much the same; the first message tells them apart.
        match.prefix > 0,
        match.common,
        -match.lost,
        known.label == new.label,
        known.system == new.system,
        known.tools == new.tools,
        known.order,
    )


def _belongs(match: _Match, new: _Known) -> bool:
    """Whether so much is in common that the turn goes on from the known one."""
    known = match.known
    if match.common == 0:
        return False
    other_frame = known.system != new.system and bool(known.tools) != bool(new.tools)
    if known.label.agent != new.label.agent or (other_frame and not match.exact):
        return False
    same_label = known.label.session is not None and known.label.session == new.label.session
    history = _history_length(new.turn.prompt.messages)
    if history == 0:
        extends = match.prefix >= len(known.body) and len(new.body) > len(known.body)
        return extends and (same_label or known.system == new.system)
    if known.system != new.system and not same_label:
        # All that was said, and no system prompt any more: it was lost, or stands among the rest.
        if not new.system and match.lost == 0 and match.common > 1:
            return True
        # A harness may change its instructions (from coding to answering) in mid-conversation.
        if len(known.said) > len(known.body) and known.said[-1] in new.body[:history]:
            return match.common > 1 and match.common * 2 >= history
        return match.prefix >= 2 and match.common * 2 > history
    if match.exact or same_label:
        return True
    return match.common * 2 >= history and not begins_anew(known.conversation.turns, new.turn)


def _history_length(messages: Sequence[Message]) -> int:
    """Body messages up to the last assistant message: the part that is not new."""
    start = leading_system(messages)
    said = (n for n in range(len(messages), start, -1) if messages[n - 1].role == "assistant")
    return next(said, start) - start


def _labels_differ(a: Label, b: Label) -> bool:
    both = a.session is not None and b.session is not None
    return (both and a.session != b.session) or a.agent != b.agent


def _same_frame(old: _Known, new: _Known) -> bool:
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


def _is_side(old: _Known, new: _Known) -> bool:
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


def _is_beside(old: _Known, new: _Known) -> bool:
    """Whether a request was sent before the reply to the old one had come, and holds nothing of
    that reply: a second agent that took a copy of the history with it."""
    exchange = old.turn.exchange
    if old.said == old.body or old.said[-1] in new.body:
        return False
    took = exchange.response.ended_at if exchange.response else None
    began = new.turn.exchange.started_at
    return took is not None and exchange.started_at <= began < exchange.started_at + took
