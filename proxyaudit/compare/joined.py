"""Messages that the reader joined.

In the Responses format one reply stands in several items, so items that the model said one after
the other are read as one message. Where what stood between two replies is gone, or a reply stands
there twice, they are read as one as well: nobody merged them, and each still stands for its own.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from proxyaudit.core.message import Message, Part, Reasoning, Text


class Joined(NamedTuple):
    """What of one joined message stands for which left messages.

    `held`: left positions in order. `repeated`: for each text said again, the left position of
    what it repeats.
    """

    held: tuple[int, ...]
    repeated: tuple[int, ...]


class _Piece(NamedTuple):
    body: str
    text: str


def is_joined(message: Message) -> bool:
    """Whether an assistant message was read from several items with texts."""
    if message.role != "assistant":
        return False
    texts = [p for p in message.parts if isinstance(p, Text) and p.text]
    if len(texts) < 2:
        return False
    depth = message.pointer.count("/") + 1
    return len({tuple(p.pointer.split("/")[:depth]) for p in texts}) > 1


def account(left: Sequence[Message], right: Message) -> Joined | None:
    """How a joined message is made up of left messages, in order; None if more is in it."""
    whole = _pieces(right)
    bodies = [piece.body for piece in whole]
    held: list[int] = []
    owner: dict[int, int] = {}
    at = 0
    for position, message in enumerate(left):
        own = [piece.body for piece in _pieces(message)]
        found = _find(bodies, own, at) if own else None
        if found is None:
            continue
        held.append(position)
        owner.update((k, position) for k in range(found, found + len(own)))
        at = found + len(own)
    rest = [k for k in range(len(whole)) if k not in owner]
    twins = [_twin(whole, owner, k) for k in rest]
    if not held or any(twin is None for twin in twins):
        return None
    return Joined(tuple(held), tuple(owner[twin] for twin in twins if twin is not None))


def spoken(message: Message) -> list[str]:
    """Digests of a message of the Responses format, one for each text that an assistant message
    begins anew: so a joined message has those of the replies in it."""
    if message.role != "assistant" or sum(isinstance(p, Text) for p in message.parts) < 2:
        return [message.content]
    whole = (Message("assistant", tuple(group)) for group in _groups(message))
    return [said.content for said in whole]


def _pieces(message: Message) -> list[_Piece]:
    return [_piece(group) for group in _groups(message)]


def _groups(message: Message) -> list[list[Part]]:
    """Its parts cut where a text begins, reasoning left out."""
    groups: list[list[Part]] = []
    for part in message.parts:
        if isinstance(part, Reasoning) or (isinstance(part, Text) and not part.text):
            continue
        if isinstance(part, Text) or not groups:
            groups.append([])
        groups[-1].append(part)
    return groups


def _piece(parts: list[Part]) -> _Piece:
    message = Message("assistant", tuple(parts))
    return _Piece(message.body, message.text)


def _find(bodies: Sequence[str], own: Sequence[str], start: int) -> int | None:
    last = len(bodies) - len(own)
    return next((k for k in range(start, last + 1) if bodies[k : k + len(own)] == own), None)


def _twin(whole: Sequence[_Piece], owner: dict[int, int], k: int) -> int | None:
    """The piece that piece `k` repeats: an equal one, or a neighbour that begins with it."""
    equal = (n for n in owner if whole[n].body == whole[k].body)
    begins = (
        n for n in (k + 1, k - 1) if n in owner and whole[n].text.startswith(whole[k].text.strip())
    )
    return next(chain(equal, begins), None)
