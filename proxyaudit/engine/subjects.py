"""From exchanges to what rules look at: turns, conversations, hops and comparisons."""

from dataclasses import dataclass, field, replace
from functools import partial

from proxyaudit.compare.chain import Chain
from proxyaudit.compare.kinship import relate
from proxyaudit.compare.pair import Hop, pair
from proxyaudit.compare.relation import forwarded, next_turn, returned
from proxyaudit.compare.thread import Threader
from proxyaudit.core.comparison import Comparison
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Recording
from proxyaudit.core.traffic import Traffic
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import NotATurn, read_turns


@dataclass(slots=True)
class Subjects:
    """What one recording holds.

    `threaded` are the turns of the tap that conversations are made of: the client tap, or the
    upstream tap where that is all there is. `turns` is by turn id, which is the exchange id but
    for the later turns on a websocket; `hops` by the id of the client turn. `unread` says, by
    exchange id, why an exchange is no turn.
    """

    exchanges: tuple[Exchange, ...]
    turns: dict[str, Turn] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    threaded: list[Turn] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    hops: dict[str, Hop] = field(default_factory=dict)
    two_taps: bool = field(init=False)

    def __post_init__(self) -> None:
        self.two_taps = {e.tap for e in self.exchanges} == {"client", "upstream"}

    def by_conversation(self) -> list[Turn]:
        """The turns of `threaded`, those of a conversation one after the other: a rule goes on
        from what it knows of the turn before. Failed attempts come last."""
        placed = [turn for conversation in self.conversations for turn in conversation.turns]
        ids = {turn.id for turn in placed}
        return [*placed, *(turn for turn in self.threaded if turn.id not in ids)]

    def traffic(self, name: str) -> Traffic:
        """Everything at the tap that conversations are made of, for rules over a recording."""
        return Traffic(name, tuple(self.threaded), tuple(self.conversations))

    def traffic_upstream(self, name: str) -> Traffic | None:
        """The same at the upstream tap; None if it was not recorded beside the client tap."""
        if not self.two_taps:
            return None
        seen = {id_: hop.answered for id_, hop in self.hops.items()}
        return Traffic(
            name,
            tuple(seen[t.id] for t in self.threaded if t.id in seen),
            tuple(
                replace(c, turns=[seen[t.id] for t in c.turns if t.id in seen])
                for c in self.conversations
            ),
        )

    def turn_numbers(self) -> dict[str, int]:
        """The number of the turn, from 1 in its conversation, of each exchange that has one.

        A failed attempt counts as the turn that its retry became; what was seen at the upstream
        tap as the turn at the client tap.
        """
        numbers: dict[str, int] = {}
        for conversation in self.conversations:
            own = {turn.id: n for n, turn in enumerate(conversation.turns, 1)}
            number = 0
            for id_ in conversation.exchanges:
                number = own.get(id_, min(number + 1, len(own)))
                numbers[id_] = number
        for client, hop in self.hops.items():
            numbers |= {turn.id: numbers[client] for turn in hop.upstream if client in numbers}
        return {id_: number for id_, number in numbers.items() if number}


def subjects(recording: Recording) -> Subjects:
    """Read, thread and pair a recording."""
    found = Subjects(recording.exchanges)
    read: list[Turn] = []
    for exchange in recording.exchanges:
        turns = read_turns(exchange)
        if isinstance(turns, NotATurn):
            found.unread[exchange.id] = turns.reason
        else:
            read += turns
    if any(turn.part for turn in read):
        # Several websockets may be open at a time: their turns come in between each other.
        read.sort(key=lambda turn: turn.exchange.started_at)
    chain = Chain()
    found.turns = {turn.id: chain.rebuild(turn) for turn in read}
    # A replay sends recorded histories: they do not hold the replies that it got.
    _thread(found, echo="replay_of" not in recording.about)
    _pair(found)
    return found


def _thread(found: Subjects, *, echo: bool) -> None:
    clients = [t for t in found.turns.values() if t.exchange.tap == "client"]
    found.threaded = clients or list(found.turns.values())
    threader = Threader()
    for turn in found.threaded:
        placed = threader.place(turn)
        summaries = partial(threader.side_texts, placed.conversation)
        comparison = next_turn(placed, turn, summaries, echo=echo)
        if comparison:
            found.comparisons.append(comparison)
    relate(threader.conversations)
    found.conversations = threader.conversations


def _pair(found: Subjects) -> None:
    if not found.two_taps:
        return
    upstreams = [t for t in found.turns.values() if t.exchange.tap == "upstream"]
    for hop in pair(found.threaded, upstreams):
        found.hops[hop.client.id] = hop
        found.comparisons.append(forwarded(hop.client, hop.answered))
        if hop.client.reply and hop.answered.reply:
            found.comparisons.append(returned(hop.answered, hop.client))
