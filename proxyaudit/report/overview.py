"""What a recording holds, a line for each turn: the values behind `show`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.conversation import Conversation
from proxyaudit.core.exchange import Exchange
from proxyaudit.core.recording import Recording
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.engine import Audited


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One exchange of a conversation. `turn` is None for an attempt that came to nothing.

    Tokens as reported, seconds since the request; None where not known. `new` is how many messages
    the prompt has more than that of the turn before.
    """

    turn: int | None
    exchange: str
    started_at: float
    model: str | None
    messages: int
    new: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    finish: str | None
    status: int | None
    first_byte: float | None
    total: float | None
    marks: tuple[str, ...]
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ConversationLines:
    """A conversation and its exchanges."""

    id: str
    kind: str
    parent: str | None
    session: str | None
    purpose: str
    lines: tuple[TurnLine, ...]


@dataclass(frozen=True, slots=True)
class OtherLine:
    """An exchange that is no turn of any conversation, and why."""

    exchange: str
    tap: str
    request: str
    status: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Overview:
    """All of a recording. Times are in seconds since the epoch, UTC."""

    recording: str
    taps: dict[str, int]
    started_at: float | None
    ended_at: float | None
    conversations: tuple[ConversationLines, ...]
    others: tuple[OtherLine, ...]
    flaws: tuple[str, ...]


def overview(recording: Recording, audited: Audited) -> Overview:
    """Read off everything that `show` prints."""
    exchanges = recording.exchanges
    marks = _marks(audited.comparisons)
    return Overview(
        recording.target,
        {tap: n for tap in ("client", "upstream") if (n := sum(e.tap == tap for e in exchanges))},
        min((e.started_at for e in exchanges), default=None),
        max((e.started_at + (total_time(e) or 0.0) for e in exchanges), default=None),
        tuple(conversation_lines(c, audited, marks) for c in audited.conversations),
        tuple(_others(exchanges, audited)),
        tuple(f"{flaw.where}: {flaw.message}" for flaw in recording.flaws),
    )


def conversation_lines(
    conversation: Conversation, audited: Audited, marks: Mapping[str, Sequence[str]] | None = None
) -> ConversationLines:
    """One conversation, a line for each of its exchanges."""
    known = _marks(audited.comparisons) if marks is None else marks
    return ConversationLines(
        conversation.id,
        conversation.kind,
        conversation.parent,
        conversation.session,
        conversation.purpose,
        tuple(_lines(conversation, audited, known)),
    )


def first_byte(exchange: Exchange) -> float | None:
    """Seconds until the first piece of the reply; None if not timed."""
    response = exchange.response
    return response.chunks[0].at if exchange.timed and response and response.chunks else None


def total_time(exchange: Exchange) -> float | None:
    """Seconds until the reply had ended; None if not known."""
    return exchange.response.ended_at if exchange.response else None


def _lines(
    conversation: Conversation, audited: Audited, marks: Mapping[str, Sequence[str]]
) -> Iterator[TurnLine]:
    numbers = {turn.id: n for n, turn in enumerate(conversation.turns, 1)}
    before: int | None = None
    for id_ in conversation.exchanges:
        turn = audited.turns.get(id_)
        if turn is None:
            continue
        number = numbers.get(id_)
        tried = list(_ending(turn)) + ([] if number else ["other attempt"])
        upstream = len(audited.pairs.get(id_, ()))
        if upstream > 1:
            tried.append(f"{upstream} attempts upstream")
        yield _line(turn, number, before, (*marks.get(id_, ()), *tried))
        if number:
            before = len(turn.prompt.messages)


def _line(turn: Turn, number: int | None, before: int | None, marks: tuple[str, ...]) -> TurnLine:
    usage = (turn.reply.usage if turn.reply else None) or Usage()
    messages = len(turn.prompt.messages)
    return TurnLine(
        number,
        turn.id,
        turn.exchange.started_at,
        turn.prompt.model,
        messages,
        None if before is None else messages - before,
        usage.prompt,
        usage.completion,
        turn.reply.finish if turn.reply else None,
        turn.status,
        first_byte(turn.exchange),
        total_time(turn.exchange),
        marks,
        usage.cached,
    )


def _ending(turn: Turn) -> Iterator[str]:
    if turn.exchange.end != "complete":
        yield turn.exchange.end.replace("_", " ")
    if turn.reply and turn.reply.error:
        yield "error"


def _marks(comparisons: Sequence[Comparison]) -> dict[str, list[str]]:
    """What comparisons say of a turn, in a word, by the id of the client's exchange."""
    marks: dict[str, list[str]] = {}
    for found in comparisons:
        if found.relation is Relation.NEXT_TURN:
            words = [w for w in ("forked", "compacted", "reset") if getattr(found, w)]
            if found.changes and not words:
                words = ["history changed"]
            marks.setdefault(found.right.id, []).extend(words)
        elif found.changes:
            forwarded = found.relation is Relation.FORWARDED
            client = found.left.id if forwarded else found.right.id
            word = "request" if forwarded else "reply"
            marks.setdefault(client, []).append(f"{word} changed at the hop")
    return marks


def _others(exchanges: Sequence[Exchange], audited: Audited) -> Iterator[OtherLine]:
    placed = {id_ for c in audited.conversations for id_ in c.exchanges}
    placed |= {id_ for ids in audited.pairs.values() for id_ in ids}
    for exchange in exchanges:
        if exchange.id in placed:
            continue
        reason = audited.unread.get(exchange.id, f"seen at the {exchange.tap} tap only")
        request = f"{exchange.request.method} {exchange.request.url}"
        status = exchange.response.status if exchange.response else None
        yield OtherLine(exchange.id, exchange.tap, request, status, reason)
