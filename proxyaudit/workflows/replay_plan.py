"""Which recorded requests a replay sends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Tap
from proxyaudit.core.recording import Recording
from proxyaudit.core.replay import NotReplayed
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import NotATurn, read_turns


@dataclass(frozen=True, slots=True)
class Selection:
    """Which requests to send. None: all.

    `conversation` is an id, or the beginning of one; `turn` counts from 1 in each conversation.
    """

    conversation: str | None = None
    turn: int | None = None

    @property
    def everything(self) -> bool:
        return self.conversation is None and self.turn is None


EVERYTHING = Selection()
_WEBSOCKET = "a turn on a websocket; only HTTP requests are sent again"


class Place(NamedTuple):
    """A conversation, and the number of the turn in it; None for a failed attempt."""

    conversation: str | None = None
    number: int | None = None


class Planned(NamedTuple):
    """A turn to send, and its place."""

    turn: Turn
    place: Place


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be sent, in recorded order, and what cannot be."""

    tap: Tap
    items: tuple[Planned, ...]
    not_replayed: tuple[NotReplayed, ...]


def plan(
    recording: Recording,
    *,
    selection: Selection = EVERYTHING,
    tap: Tap | None = None,
    conversations: Sequence[Conversation] = (),
    pairs: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """Choose what to send; UserError if that is nothing.

    `tap` None is the client tap, or upstream where nothing else was recorded. `pairs` gives the
    upstream exchange ids of a client exchange, for naming turns of the upstream tap.
    """
    taps = {exchange.tap for exchange in recording.exchanges}
    chosen: Tap = tap or ("upstream" if taps == {"upstream"} else "client")
    places = _places(_chosen_conversations(conversations, selection.conversation), pairs or {})
    items: list[Planned] = []
    unread: list[NotReplayed] = []
    for exchange in recording.exchanges:
        if exchange.tap != chosen:
            continue
        read = read_turns(exchange)
        if isinstance(read, NotATurn):
            unread.append(NotReplayed(exchange.id, read.reason))
            continue
        for turn in read:
            if turn.is_websocket:
                unread.append(NotReplayed(turn.id, _WEBSOCKET))
            elif _wanted(place := places.get(turn.id, Place()), selection):
                items.append(Planned(turn, place))
    if not items:
        raise _nothing_to_send(recording, chosen, selection)
    return Plan(chosen, tuple(items), tuple(unread) if selection.everything else ())


def _chosen_conversations(
    conversations: Sequence[Conversation], wanted: str | None
) -> Sequence[Conversation]:
    if wanted is None:
        return conversations
    exact = [c for c in conversations if c.id == wanted]
    chosen = exact or [c for c in conversations if c.id.startswith(wanted)]
    if len(chosen) != 1:
        ids = ", ".join(c.id for c in (chosen or conversations)) or "none"
        count = "more than one" if chosen else "no"
        raise UserError(f"{count} conversation has the id {wanted!r}", f"There are: {ids}.")
    return chosen


def _places(
    conversations: Sequence[Conversation], pairs: Mapping[str, Sequence[str]]
) -> dict[str, Place]:
    """The place of each exchange id, of both taps."""
    places: dict[str, Place] = {}
    for conversation in conversations:
        here = {id_: Place(conversation.id) for id_ in conversation.exchanges}
        for number, turn in enumerate(conversation.turns, 1):
            here[turn.id] = Place(conversation.id, number)
        places |= here
        for id_, place in here.items():
            places.update(dict.fromkeys(pairs.get(id_, ()), place))
    return places


def _wanted(place: Place, selection: Selection) -> bool:
    if selection.conversation is not None and place.conversation is None:
        return False
    return selection.turn is None or place.number == selection.turn


def _nothing_to_send(recording: Recording, tap: Tap, selection: Selection) -> UserError:
    if not selection.everything:
        wanted = f"turn {selection.turn}" if selection.turn is not None else "request"
        return UserError(
            f"no {wanted} of the {tap} tap is in this selection",
            "See what there is: proxyaudit show RECORDING",
        )
    there = sum(exchange.tap == tap for exchange in recording.exchanges)
    why = f"{there} exchanges, none of them a model request over HTTP" if there else "nothing"
    return UserError(
        f"{recording.target} has nothing to send: {why} at the {tap} tap",
        "Choose the other tap with --tap, or see what there is: proxyaudit show RECORDING",
    )
