"""What a watch remembers of the traffic behind it, and what it forgets.

A recorder may run for weeks. Of a conversation its newest turns are needed, and its first; one
that has been idle for long will hardly go on, and if it does, it begins anew for the watch.
"""

from collections import OrderedDict
from dataclasses import replace

from proxyaudit.compare.chain import Chain
from proxyaudit.compare.thread import Placed, Threader
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn

# A fault that comes back after so many turns without it is told anew.
_PAUSE = 8
_TOLD = 4096
_REPLIES = 512


class Memory:
    """Keeps `turns` of each conversation, and `conversations` of them, those used last.

    `idle` is in seconds. `places` gives conversation and number of each turn that is remembered.
    """

    def __init__(
        self, conversations: int = 128, turns: int = 32, idle: float = 24 * 3600.0
    ) -> None:
        self._most, self._turns, self._idle = conversations, turns, idle
        self.places: dict[str, tuple[str, int]] = {}
        self._numbers: dict[str, int] = {}
        self._used: OrderedDict[str, tuple[Conversation, float]] = OrderedDict()
        self._told: OrderedDict[tuple[object, ...], int] = OrderedDict()

    def placed(self, turn: Turn, placed: Placed) -> None:
        """A turn has found its place."""
        conversation = placed.conversation
        number = self._numbers.get(conversation.id, 0)
        if placed.repeat and placed.left:
            _, number = self.places.get(placed.left.id, ("", number))
        else:
            number += 1
            self._numbers[conversation.id] = number
        self.places[turn.id] = (conversation.id, number)
        self._used[conversation.id] = (conversation, turn.exchange.started_at)
        self._used.move_to_end(conversation.id)

    def lasts(self, fault: tuple[object, ...], turn: int) -> bool:
        """Whether a fault has been told not long before this turn; it is told now."""
        before = self._told.get(fault)
        self._told[fault] = turn
        self._told.move_to_end(fault)
        if len(self._told) > _TOLD:
            self._told.popitem(last=False)
        return before is not None and turn - before <= _PAUSE

    def tidy(self, threader: Threader, chain: Chain, now: float) -> None:
        """Forget what is too old or too much; `now` in seconds since the epoch."""
        while self._used:
            conversation, at = next(iter(self._used.values()))
            if len(self._used) <= self._most and now - at <= self._idle:
                break
            self._forget(threader, conversation, 0)
            del self._used[conversation.id], self._numbers[conversation.id]
        if self._used:
            conversation, _ = next(reversed(self._used.values()))
            # Not at every turn: to forget costs a look at all that is kept.
            if len(conversation.exchanges) >= 2 * self._turns:
                self._forget(threader, conversation, self._turns)
        chain.forget(_REPLIES)

    def reset(self) -> None:
        """Conversations begin anew."""
        for held in (self.places, self._numbers, self._used, self._told):
            held.clear()

    def _forget(self, threader: Threader, conversation: Conversation, keep: int) -> None:
        before = list(conversation.exchanges)
        threader.forget(conversation, keep)
        left = set(conversation.exchanges) if keep else set()
        for id_ in before:
            if id_ not in left:
                self.places.pop(id_, None)


def slim(turn: Turn) -> Turn:
    """The turn without the bytes it was read from: what a later turn is compared with."""
    exchange = turn.exchange
    response = exchange.response
    exchange = replace(
        exchange,
        request=replace(exchange.request, body=b"", chunks=()),
        response=response and replace(response, body=b"", chunks=()),
        websocket=None if exchange.websocket is None else (),
    )
    reply = turn.reply
    if reply and reply.stream:
        stream = replace(reply.stream, events=(), call_deltas=(), text_times=())
        reply = replace(reply, stream=stream)
    return replace(turn, exchange=exchange, reply=reply)
