"""The audit while traffic goes on: what a request shows is told before the model has answered.

It gives the findings of the offline audit, as soon as they can be known:

- at a request: the history against the turn that it goes on from, and what the proxy sent on
  against what the client sent (as many times as it sends);
- at the end of an exchange: the same once more, now with the reply (a refusal makes some findings
  certain), rules over a turn, and the reply at both taps.

Rules over whole conversations or recordings are left to the audit. A request that was sent while
the one before it was still being answered is judged when that answer is over, for only then it is
known what its history should hold. A proxy that asks twice is judged by each of its requests;
the offline audit looks at the last one only.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proxyaudit.compare.chain import Chain
from proxyaudit.compare.marks import is_chore
from proxyaudit.compare.pair import client_of
from proxyaudit.compare.relation import forwarded, next_turn, returned
from proxyaudit.compare.thread import Placed, Threader
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.exchange import Exchange, Tap
from proxyaudit.core.finding import Finding, Skip, Suspect
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import NotATurn, dialect_named, read_response, read_turns
from proxyaudit.engine.attribute import attribute
from proxyaudit.engine.memory import Memory, slim
from proxyaudit.engine.run import softened
from proxyaudit.rules.base import Facts, Found, Rule, Subject, all_rules

_BREAKS = 20
# Client turns that an upstream turn may belong to, those that ended a moment ago among them.
_CLIENTS = 64
# Turns without an end, at most: there are no more unless their ends were not told.
_OPEN = 1024


@dataclass(frozen=True, slots=True)
class Alert:
    """A finding, and where it belongs; `turn` counts from 1 in its conversation.

    `again`: it has been told for an earlier turn and lasts. `early`: the model has not answered.
    """

    finding: Finding
    conversation: str | None
    turn: int | None
    again: bool
    early: bool


class Seen(NamedTuple):
    """A turn that has ended. `conversation` and `number` are None at the tap that conversations
    are not made of."""

    turn: Turn
    conversation: str | None
    number: int | None


@dataclass(slots=True, eq=False)
class _Open:
    """A turn from its request until all is told of it. `read` is the turn without what the server
    keeps of its history; `hop` are the upstream turns of a client turn."""

    read: Turn
    turn: Turn
    ended: bool = False
    client: "_Open | None" = None
    hop: "list[_Open]" = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    told: set[tuple[object, ...]] = field(default_factory=set)


class Watcher:
    """Give it each exchange at its request and at its end, in the order in which that happened.

    One thread at a time. A turn costs what is new in it. It remembers as much as `Memory` has
    room for. `breaks` says which rules broke.
    """

    def __init__(
        self,
        facts: Facts | None = None,
        rules: Sequence[Rule] | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._facts = facts or Facts()
        chosen = all_rules() if rules is None else rules
        self._on_turn = [rule for rule in chosen if rule.on is Turn]
        self._on_comparison = [rule for rule in chosen if rule.on is Comparison]
        self.breaks: deque[str] = deque(maxlen=_BREAKS)
        self._memory = memory or Memory()
        self._threader, self._chain = Threader(), Chain()
        self._threaded: Tap | None = None
        self._taps: set[Tap] = set()
        self._open: dict[str, _Open] = {}
        self._flying: dict[str, str] = {}  # turn → conversation
        self._waiting: list[_Open] = []
        self._clients: deque[_Open] = deque(maxlen=_CLIENTS)

    def begin(self, exchange: Exchange) -> list[Alert]:
        """A request is complete; its response is still to come."""
        self._taps.add(exchange.tap)
        read = read_turns(exchange)
        if isinstance(read, NotATurn):
            return []
        return [alert for turn in read for alert in self._begin(turn)]

    def end(self, exchange: Exchange, *, quick: bool = False) -> tuple[list[Seen], list[Alert]]:
        """An exchange has ended: its turns with their replies, and what is known now.

        With `quick` the rules over a turn and over replies are left out.
        """
        self._taps.add(exchange.tap)
        alerts: list[Alert] = []
        opened = self._open.pop(exchange.id, None)
        if opened:
            turns = [_with_reply(opened.read, exchange)]
        else:  # a websocket, or one that began before this watch
            read = read_turns(exchange)
            turns = [] if isinstance(read, NotATurn) else list(read)
        for turn in turns:
            if turn.id != exchange.id or not opened:
                alerts += self._begin(turn)
            alerts += self._end(opened or self._open.pop(turn.id), turn, quick)
        self._memory.tidy(self._threader, self._chain, exchange.started_at)
        while len(self._open) > _OPEN:
            self.lose(next(iter(self._open)))
        places = self._memory.places
        return [Seen(turn, *places.get(turn.id, (None, None))) for turn in turns], alerts

    def lose(self, exchange_id: str) -> None:
        """The end of an exchange will not be told: nothing waits for it any more."""
        opened = self._open.pop(exchange_id, None)
        self._flying.pop(exchange_id, None)
        if opened in self._waiting:
            self._waiting.remove(opened)

    def _begin(self, read: Turn) -> list[Alert]:
        turn = self._chain.rebuild(read)
        opened = _Open(read, turn)
        self._open[turn.id] = opened
        alerts: list[Alert] = []
        if self._is_threaded(turn) and not self._place(opened, alerts):
            self._waiting.append(opened)
        if turn.exchange.tap == "client":
            self._clients.append(opened)
        else:
            alerts += self._across(opened)
        return alerts

    def _end(self, opened: _Open, read: Turn, quick: bool) -> list[Alert]:
        opened.read = read
        opened.turn = turn = self._chain.rebuild(read)
        opened.ended = True
        alerts: list[Alert] = []
        if opened in self._waiting:
            self._waiting.remove(opened)
            self._place(opened, alerts, force=True)
        self._flying.pop(turn.id, None)
        self._threader.settle(slim(turn))
        for comparison in opened.comparisons:
            left = opened.client.turn if opened.client else comparison.left
            alerts += self._compared(opened, replace(comparison, left=left, right=turn))
        if not quick:
            alerts += self._whole(opened.client or opened)
        self._retry(alerts)
        return alerts

    def _is_threaded(self, turn: Turn) -> bool:
        """Conversations are made of what the client tap saw, or the upstream tap if it is alone."""
        tap = turn.exchange.tap
        if self._threaded is None or (self._threaded == "upstream" and tap == "client"):
            self._threaded = tap
            self._threader = Threader()
            self._memory.reset()
            self._flying.clear()
            self._waiting.clear()
        return tap == self._threaded

    def _place(self, opened: _Open, alerts: list[Alert], *, force: bool = False) -> bool:
        """Find what a turn goes on from and judge it; False if that has to wait."""
        turn = opened.turn
        placed = self._threader.look(turn)
        # What is being answered in this conversation may be what the turn really goes on from.
        hasty = placed.conversation.id in self._flying.values()
        if hasty and not force:
            return False
        comparison = None
        if not hasty:
            asked: list[bool] = []
            comparison = next_turn(placed, turn, lambda: self._summaries(placed, asked))
            if asked and not force and self._is_summing_up():
                return False
        self._threader.keep(turn, placed)
        self._memory.placed(turn, placed)
        if not opened.ended:
            self._flying[turn.id] = placed.conversation.id
        if comparison:
            opened.comparisons.append(comparison)
            alerts += self._compared(opened, comparison)
        return True

    def _summaries(self, placed: Placed, asked: list[bool]) -> list[str]:
        asked.append(True)
        return self._threader.side_texts(placed.conversation)

    def _is_summing_up(self) -> bool:
        """Whether a summary may be on its way that would explain what is gone."""
        flying = (self._open[id_].turn for id_ in self._flying if id_ in self._open)
        return any(is_chore(turn.prompt.messages) for turn in flying)

    def _retry(self, alerts: list[Alert]) -> None:
        self._waiting = [o for o in self._waiting if not self._place(o, alerts)]

    def _across(self, opened: _Open) -> list[Alert]:
        """What the proxy made of the client's request."""
        taken = {o.turn.id for o in self._clients if o.hop}
        client = client_of(opened.turn, [o.turn for o in self._clients], taken)
        if client is None:
            return []
        opened.client = next(o for o in self._clients if o.turn.id == client.id)
        opened.client.hop.append(opened)
        comparison = forwarded(opened.client.turn, opened.turn)
        opened.comparisons.append(comparison)
        return self._compared(opened, comparison)

    def _whole(self, opened: _Open) -> list[Alert]:
        """All ends of an exchange are known: rules over a turn, and the reply at both taps."""
        turn = opened.turn
        if turn.exchange.tap != self._threaded or not opened.ended:
            return []
        if not all(beyond.ended for beyond in opened.hop):
            return []
        answered = opened.hop[-1].turn if opened.hop else None
        alerts: list[Alert] = []
        for rule in self._on_turn:
            here = self._check(rule, turn)
            there = self._check(rule, answered) if answered else self._nobody()
            for found, suspect in attribute(turn, here, there):
                alerts += self._tell(opened, rule, found, suspect)
        if answered and answered.reply and turn.reply:
            alerts += self._compared(opened, returned(answered, turn))
        for done in (opened, *opened.hop):
            done.read = done.turn = slim(done.turn)
            done.comparisons.clear()
        return alerts

    def _nobody(self) -> list[Found] | None:
        """What a second tap found that saw nothing of a turn; None without a second tap."""
        return [] if len(self._taps) > 1 else None

    def _compared(self, opened: _Open, comparison: Comparison) -> list[Alert]:
        alerts: list[Alert] = []
        for rule in self._on_comparison:
            if comparison.relation in rule.relations:
                for found in self._check(rule, comparison):
                    found = softened(rule, comparison, found, self._facts)
                    alerts += self._tell(opened, rule, found, comparison.suspect)
        return alerts

    def _check(self, rule: Rule, subject: Subject) -> list[Found]:
        try:
            outcomes = list(rule.check(subject, self._facts))
        except Exception as error:
            self.breaks.append(f"rule {rule.name} broke: {type(error).__name__}: {error}")
            return []
        return [o for o in outcomes if not isinstance(o, Skip)]

    def _tell(self, opened: _Open, rule: Rule, found: Found, suspect: Suspect) -> Iterator[Alert]:
        severity = found.severity or rule.severity
        same = (rule.name, severity, found.message, found.places[0])
        if same in opened.told:
            return
        opened.told.add(same)
        who = found.suspect or suspect
        finding = Finding(
            rule.name,
            severity,
            who,
            found.message,
            found.places,
            found.before,
            found.confidence,
            found.evidence,
        )
        id_ = (opened.client or opened).turn.id
        conversation, number = self._memory.places.get(id_, (None, None))
        lasting = (rule.name, who, severity, conversation or id_, found.places[0].side)
        again = self._memory.lasts(lasting, number or 0)
        yield Alert(finding, conversation, number, again, early=not opened.ended)


def _with_reply(read: Turn, exchange: Exchange) -> Turn:
    """The turn that was read at its request, now that its exchange has ended."""
    dialect = dialect_named(read.dialect)
    reply = read_response(dialect, exchange) if dialect else None
    return replace(read, exchange=exchange, reply=reply)
