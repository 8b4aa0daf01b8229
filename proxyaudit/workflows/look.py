"""Look into a recording: find a conversation, an exchange, a comparison by what a user types."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Recording
from proxyaudit.engine import Audited, audit
from proxyaudit.report.exchange_text import OneExchange
from proxyaudit.report.safe import safe_line
from proxyaudit.report.shelf import Entry
from proxyaudit.store.find import Found, find_recordings, resolve
from proxyaudit.store.read import iter_exchanges, open_recording
from proxyaudit.wire.redact import Redactor

_HOPS = (Relation.FORWARDED, Relation.RETURNED)


@dataclass(frozen=True, slots=True)
class Looked:
    """A recording, its turns threaded and compared, and the turn number of each exchange."""

    recording: Recording
    audited: Audited
    numbers: dict[str, int]


def look(target: str, root: Path) -> Looked:
    """Open a recording without judging it, secrets hidden. Raises UserError."""
    return looked(open_recording(resolve(target, root)))


def looked(recording: Recording) -> Looked:
    """A recording in memory, read and compared; secrets in headers and addresses are hidden."""
    # Imported files hold them still. The salt is nobody's: only equality is to be seen.
    hide = Redactor(secrets.token_bytes(16))
    shown = tuple(_without_secrets(exchange, hide) for exchange in recording.exchanges)
    recording = replace(recording, exchanges=shown)
    audited = audit(recording, ())
    return Looked(recording, audited, audited.numbers)


def one_exchange(seen: Looked, id_: str) -> OneExchange:
    """An exchange with all that is known of it; UserError if there is none with this id.

    Of a websocket it is the part that the turn with this id is made of.
    """
    exchange = _exchanges(seen).get(id_)
    if exchange is None:
        raise UserError(f"no exchange {id_!r} in {seen.recording.target}")
    pairs = seen.audited.pairs
    twins = pairs.get(id_) or tuple(client for client, ups in pairs.items() if id_ in ups)
    own = {id_, *(client for client, ups in pairs.items() if id_ in ups)}
    holds = next((c.id for c in seen.audited.conversations if own & {*c.exchanges}), None)
    return OneExchange(
        exchange,
        seen.audited.turns.get(id_),
        seen.audited.unread.get(id_, ""),
        seen.numbers.get(id_),
        holds,
        twins,
    )


def _exchanges(seen: Looked) -> dict[str, Exchange]:
    """Exchanges by id, and the parts of websockets by theirs."""
    recorded = {e.id: e for e in seen.recording.exchanges}
    return recorded | {id_: turn.exchange for id_, turn in seen.audited.turns.items()}


def find(seen: Looked, word: str) -> Conversation | Exchange:
    """The conversation or exchange with this id, or the only one that begins with it."""
    conversations = {c.id: c for c in seen.audited.conversations}
    exchanges = _exchanges(seen)
    known: dict[str, Conversation | Exchange] = {**exchanges, **conversations}
    if word in known:
        return known[word]
    found = [id_ for id_ in known if id_.startswith(word)]
    if len(found) == 1:
        return known[found[0]]
    if found:
        raise UserError(f"{word!r} may be {_some(found)}", "type more of it")
    raise UserError(
        f"no conversation or exchange {word!r} in {seen.recording.target}",
        f"conversations: {_some(list(conversations)) or 'none'}",
    )


def find_conversation(seen: Looked, word: str | None, turn: int | None = None) -> Conversation:
    """The conversation named, or that of the exchange named, or else the longest main one.

    UserError where there is none, or it has no such turn.
    """
    found = _named(seen, word) if word else _longest(seen.audited.conversations)
    if found is None:
        raise UserError(
            f"{seen.recording.target} holds no conversation",
            f"`proxyaudit show {seen.recording.target}` lists what it holds",
        )
    if turn is not None and not 1 <= turn <= len(found.turns):
        raise UserError(
            f"conversation {found.id} has no turn {turn}", f"its turns are 1 to {len(found.turns)}"
        )
    return found


def others(seen: Looked, chosen: Conversation) -> list[Conversation]:
    """Further main conversations, among which the user did not choose."""
    return [c for c in seen.audited.conversations if c.kind == "main" and c.id != chosen.id]


def after_turn(seen: Looked, conversation: Conversation, turn: int) -> list[Comparison]:
    """Turn N against what went on from it; UserError if nothing did."""
    turns = conversation.turns
    left = turns[turn - 1].id
    right = turns[turn].id if turn < len(turns) else None
    every = [c for c in seen.audited.comparisons if c.relation is Relation.NEXT_TURN]
    own = {t.id for t in turns}
    found = [c for c in every if c.left.id == left and c.right.id in own]
    found = found or [c for c in every if right is not None and c.right.id == right]
    if not found:
        raise UserError(
            f"nothing goes on from turn {turn} of conversation {conversation.id}",
            f"its last turn is {len(turns)}: choose an earlier one",
        )
    return found


def hops_of(seen: Looked, conversation: Conversation, turn: int) -> list[Comparison]:
    """The request and the reply of turn N at both taps; UserError if only one tap saw it."""
    client = conversation.turns[turn - 1].id
    found = [
        c
        for c in seen.audited.comparisons
        if c.relation in _HOPS and client in (c.left.id, c.right.id)
    ]
    if not found:
        raise UserError(f"turn {turn} was seen at one tap only", _two_taps())
    return found


def first_change(seen: Looked, conversation: Conversation | None, hop: bool) -> Comparison | None:
    """The first comparison that shows a change, in order of time; None if none does.

    UserError where there is nothing to compare: that must not look like "nothing changed".
    """
    own = {t.id for t in conversation.turns} if conversation else None
    comparisons = [
        c
        for c in seen.audited.comparisons
        if (c.relation in _HOPS or not hop) and (own is None or {c.left.id, c.right.id} & own)
    ]
    if hop and not comparisons:
        raise UserError("nothing was seen at both taps", _two_taps())
    if not comparisons:
        where = f"conversation {conversation.id}" if conversation else seen.recording.target
        raise UserError(f"no turn goes on from another in {where}", "there is nothing to compare")
    changed = [c for c in comparisons if c.changes]
    return min(changed, key=lambda c: c.right.exchange.started_at, default=None)


def _without_secrets(exchange: Exchange, hide: Redactor) -> Exchange:
    request, response = exchange.request, exchange.response
    return replace(
        exchange,
        request=replace(request, url=hide.url(request.url), headers=hide.headers(request.headers)),
        response=response and replace(response, headers=hide.headers(response.headers)),
    )


def _named(seen: Looked, word: str) -> Conversation:
    found = find(seen, word)
    if isinstance(found, Conversation):
        return found
    client = next((c for c, ups in seen.audited.pairs.items() if found.id in ups), found.id)
    holds = [c for c in seen.audited.conversations if client in c.exchanges]
    if not holds:
        raise UserError(f"exchange {found.id} belongs to no conversation")
    return holds[0]


def _longest(conversations: Sequence[Conversation]) -> Conversation | None:
    return max(
        conversations,
        key=lambda c: (c.kind == "main", c.kind != "side", len(c.turns)),
        default=None,
    )


def _some(ids: Iterable[str]) -> str:
    listed = [safe_line(id_, 40) for id_ in ids]
    return ", ".join(listed[:5]) + (" …" if len(listed) > 5 else "")


def _two_taps() -> str:
    return "`proxyaudit record --upstream PROXY --backend URL` records both sides of a proxy"


def raw_body(exchange: Exchange, which: str) -> bytes:
    """The body of the "request" or the "response" as it was on the wire, content encoding kept.

    UserError where there was no response.
    """
    if which == "request":
        return exchange.request.body
    if exchange.response is None:
        raise UserError(f"exchange {exchange.id} got no response", f"it ended with: {exchange.end}")
    return exchange.response.body


def shelf(root: Path) -> list[Entry]:
    """The recordings in a folder, oldest first. Those that cannot be read say why."""
    return [_entry(found) for found in find_recordings(root)]


def _entry(found: Found) -> Entry:
    problem, taps = None, None
    try:
        # What a flow file holds is known only after a full import.
        if found.exchanges is not None:
            seen = {exchange.tap for exchange in iter_exchanges(found.path, [])}
            taps = tuple(tap for tap in ("client", "upstream") if tap in seen)
    except UserError as error:
        problem = error.message
    return Entry(
        found.name,
        str(found.path),
        found.created,
        found.exchanges,
        taps,
        _bytes_of(found.path),
        problem,
    )


def _bytes_of(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
