"""Group turns into conversations: which turn does a history grow from?

A session label in the headers is a hint; content decides. The history of a new turn is looked up
by its digests (an exact extension of an earlier turn and its reply), and scored against the
newest turns of the conversations that share its beginning or its label. Retries are no turns; a
side request is not the next turn of anything; a fork goes on from an earlier turn.

The leading system message is left out of this: it may drift while the conversation goes on.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.compare.marks import summary_index
from proxyaudit.compare.matching import (
    Known,
    Match,
    belongs,
    digests,
    is_beside,
    is_side,
    labels_differ,
    leading_system,
    match,
    may_beat,
    rank,
    same_frame,
)
from proxyaudit.compare.opening import opening
from proxyaudit.compare.session import label
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.message import digest
from proxyaudit.core.turn import Turn

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


@dataclass(slots=True)
class Threader:
    """Place turns one by one, in order of their start."""

    conversations: list[Conversation] = field(default_factory=list)
    _known: dict[str, Known] = field(default_factory=dict)
    _begun: int = 0
    _placed: int = 0
    _by_said: dict[tuple[int, str], list[Known]] = field(default_factory=dict)
    _by_prompt: dict[tuple[tuple[str, ...], str, frozenset[str]], Known] = field(
        default_factory=dict
    )
    _by_first: dict[str, list[Conversation]] = field(default_factory=dict)
    _newest: dict[str, list[Known]] = field(default_factory=dict)
    _sides: set[str] = field(default_factory=set)
    _by_session: dict[str, list[Conversation]] = field(default_factory=dict)

    def place(self, turn: Turn) -> Placed:
        """Find the conversation of a turn, or begin one."""
        known = self._read(turn)
        placed = self._find(known)
        self._remember(known, placed)
        return placed

    def look(self, turn: Turn) -> Placed:
        """Where `place` would put a turn; nothing is remembered."""
        return self._find(self._read(turn))

    def keep(self, turn: Turn, placed: Placed) -> None:
        """Remember a turn where `look` has just found its place."""
        self._remember(self._read(turn), placed)

    def settle(self, turn: Turn) -> None:
        """The reply to a turn that was placed at its request has come: from now on it counts."""
        old = self._known.get(turn.id)
        if old is None:
            return
        new = replace(self._read(turn), conversation=old.conversation, order=old.order)
        self._known[turn.id] = new
        for held in (self._newest[old.conversation.id], self._same_said(old)):
            held[:] = [known for known in held if known is not old]
        insort(self._newest[old.conversation.id], new, key=_order)
        if new.body:
            insort(self._same_said(new), new, key=_order)
            prompt = (new.body, new.system, new.tools)
            if self._by_prompt.get(prompt) is old:
                self._by_prompt[prompt] = new
        turns = new.conversation.turns
        turns[:] = [turn if t.id == turn.id else t for t in turns]

    def forget(self, conversation: Conversation, keep: int = 0) -> None:
        """Forget the turns of a conversation but for its first and `keep` newest; all of it if
        none are to be kept."""
        newest = self._newest.get(conversation.id, [])
        gone = newest[1 : max(1, len(newest) - keep)] if keep else list(newest)
        ids = {known.turn.id for known in gone}
        for known in gone:
            same = self._same_said(known)
            same[:] = [other for other in same if other is not known]
            if not same:
                self._by_said.pop(_said_key(known), None)
            prompt = (known.body, known.system, known.tools)
            if self._by_prompt.get(prompt) is known:
                del self._by_prompt[prompt]
            del self._known[known.turn.id]
        newest[:] = [known for known in newest if known.turn.id not in ids]
        conversation.turns[:] = [t for t in conversation.turns if t.id not in ids]
        conversation.exchanges[:] = [id_ for id_ in conversation.exchanges if id_ not in ids]
        if not keep:
            self._forget_whole(conversation)

    def _forget_whole(self, conversation: Conversation) -> None:
        self._newest.pop(conversation.id, None)
        self._sides.discard(conversation.id)
        for lists in (self._by_first, self._by_session):
            for key in [k for k, held in lists.items() if conversation in held]:
                lists[key] = [c for c in lists[key] if c is not conversation]
                if not lists[key]:
                    del lists[key]
        self.conversations[:] = [c for c in self.conversations if c is not conversation]

    def _find(self, known: Known) -> Placed:
        return self._repeat(known) or self._continue(known) or self._begin(known)

    def _same_said(self, known: Known) -> list[Known]:
        return self._by_said.setdefault(_said_key(known), [])

    def side_texts(self, conversation: Conversation) -> list[str]:
        """Reply texts of other short conversations: a summary was asked for in one of them."""
        return [
            t.reply.message.text
            for c in self.conversations
            if c is not conversation and (c.id in self._sides or len(c.turns) == 1)
            for t in c.turns[-1:]
            if t.reply and t.reply.message
        ]

    def _read(self, turn: Turn) -> Known:
        head = leading_system(turn.prompt.messages)
        body = tuple(digests(turn, turn.prompt.messages[head:]))
        reply = turn.reply.message if turn.ok and turn.reply else None
        said = body if reply is None or reply.is_empty else (*body, *digests(turn, [reply]))
        system = digest(*(m.content for m in turn.prompt.messages[:head])) if head else ""
        tools = frozenset(t.name for t in turn.prompt.tools)
        pending = Conversation(id="")
        return Known(turn, pending, label(turn), body, said, system, tools, self._placed)

    def _repeat(self, new: Known) -> Placed | None:
        """The same request again: after a failure a retry; after a success only if it has a
        history or a label, for two people may well begin alike."""
        old = self._by_prompt.get((new.body, new.system, new.tools)) if new.body else None
        if old is None or labels_differ(old.label, new.label):
            return None
        begun = any(m.role == "assistant" for m in new.turn.prompt.messages)
        if old.conversation.turns[0].id == old.turn.id and opening(new.turn.prompt.messages):
            begun = False
        if old.turn.ok and not begun and not new.label.session:
            return None
        return Placed(old.conversation, old.turn, repeat=True)

    def _continue(self, new: Known) -> Placed | None:
        best: Match | None = None
        for known in self._candidates(new):
            if best and not may_beat(best, known, new):
                continue
            found = match(known, new)
            if belongs(found, new) and (best is None or rank(found, new) > rank(best, new)):
                best = found
        if best is None:
            return self._unlike(new)
        if labels_differ(best.known.label, new.label):
            return self._begin(new, parent=best.known.conversation)
        if is_side(best.known, new):
            return self._begin(new, parent=best.known.conversation, side=True)
        if is_beside(best.known, new):
            return self._begin(new, parent=best.known.conversation)
        return self._go_on(best.known)

    def _go_on(self, old: Known) -> Placed:
        newest = self._newest[old.conversation.id][-1]
        return Placed(old.conversation, old.turn, forked=newest is not old)

    def _unlike(self, new: Known) -> Placed | None:
        """Nothing in common with what came before, yet perhaps the same conversation: the same
        label, or a marked summary under the same system prompt."""
        for old in self._labelled(new):
            if not is_side(old, new) and same_frame(old, new):
                return self._go_on(old)
        if new.label.session or summary_index(new.turn.prompt.messages[:4]) is None:
            return None
        for old in self._latest(self.conversations[-_RECENT:], new):
            if old.system == new.system and not is_side(old, new):
                return self._go_on(old)
        return None

    def _labelled(self, new: Known) -> list[Known]:
        same = self._by_session.get(new.label.session or "", ())
        return [k for k in self._latest(same, new) if k.label == new.label]

    def _latest(self, conversations: Sequence[Conversation], new: Known) -> list[Known]:
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

    def _candidates(self, new: Known) -> Iterable[Known]:
        found: dict[int, Known] = {}
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

    def _extended(self, new: Known) -> Known | None:
        """The newest of the turns whose history and reply the new one begins with: the longest."""
        for length in range(len(new.body), 0, -1):
            for known in reversed(self._by_said.get((length, new.body[length - 1]), ())):
                if known.said == new.body[:length]:
                    return known
        return None

    def _begin(self, new: Known, parent: Conversation | None = None, side: bool = False) -> Placed:
        return Placed(
            Conversation(
                id=f"c{self._begun + 1}",
                kind="side" if side else "main",
                parent=parent.id if parent else None,
                session=new.label.session,
            )
        )

    def _open(self, conversation: Conversation) -> None:
        self._begun += 1
        self.conversations.append(conversation)
        if conversation.session:
            self._by_session.setdefault(conversation.session, []).append(conversation)
        if conversation.kind == "side":
            self._sides.add(conversation.id)

    def _remember(self, new: Known, placed: Placed) -> None:
        conversation = placed.conversation
        if placed.left is None:
            self._open(conversation)
        conversation.exchanges.append(new.turn.id)
        if placed.repeat and placed.left:
            ids = [t.id for t in conversation.turns]
            conversation.turns[ids.index(placed.left.id)] = new.turn
        else:
            conversation.turns.append(new.turn)
        known = replace(new, conversation=conversation)
        self._known[new.turn.id] = known
        self._placed += 1
        newest = self._newest.setdefault(conversation.id, [])
        newest.append(known)
        if not new.body:
            return
        self._same_said(known).append(known)
        self._by_prompt[new.body, new.system, new.tools] = known
        first = self._by_first.setdefault(new.body[0], [])
        if conversation not in first:
            first.append(conversation)


def _said_key(known: Known) -> tuple[int, str]:
    return len(known.said), known.said[-1] if known.said else ""


def _order(known: Known) -> int:
    return known.order
