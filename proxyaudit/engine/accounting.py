"""Token accounting: the counts that replies report, against the growth of what was sent.

No tokenizer is needed. The history of a session tells itself how many characters a token is, and
where a count does not follow the history, or the cache was read less than before. These are
measurements to look at: findings are made by rules (`context.*`, `usage.*`, `cache.*`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.history import Fold
from proxyaudit.core.json import JSON
from proxyaudit.core.message import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from proxyaudit.core.turn import Turn, Usage

type Mark = Literal["fell", "cache_dropped", "counted_otherwise"]

# Smaller steps say more of the template's own tokens than of the text.
_STEP = 40
# A letter of reasoning is a third of a token, generously: so much may lawfully be left out.
_REASONING_TOKEN = 3
# A cache that held so many tokens, and of which less than this share was read the next time.
_HELD, _KEPT = 64, 0.5


@dataclass(frozen=True, slots=True)
class Entry:
    """One turn: tokens as reported, characters as sent; None for what is not known.

    `turn` counts from 1. `characters` are those of messages and tools, without media; None if the
    server keeps a part of the history that was not recorded. What grew did so since the turn
    before. `cached_share` is of the prompt tokens, 0 to 1. `upstream_…` are the counts of the
    upstream tap where they are other ones. `marks`: `fell` (fewer prompt tokens though the history
    grew), `cache_dropped` (far less was read from the cache than the turn before, though the
    history did not shrink), `counted_otherwise` (the two taps tell different counts).
    """

    turn: int
    exchange: str
    prompt_tokens: int | None = None
    tokens_grown: int | None = None
    characters: int | None = None
    characters_grown: int | None = None
    cached_tokens: int | None = None
    cached_share: float | None = None
    seconds_since: float | None = None
    upstream_prompt_tokens: int | None = None
    upstream_cached_tokens: int | None = None
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Account:
    """A conversation. `characters_per_token` is the median over `measured_steps` turns that grew
    by enough to tell; None if there is no such turn."""

    conversation: str
    characters_per_token: float | None
    measured_steps: int
    turns: tuple[Entry, ...]


class _Size(NamedTuple):
    """Characters of a history, those of them that are reasoning, and whether it holds media."""

    characters: int = 0
    reasoning: int = 0
    media: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of a turn before it is held against the one before."""

    turn: Turn
    usage: Usage
    characters: int | None
    reasoning: int
    media: bool


def accounts(
    conversations: Sequence[Conversation], upstream: Mapping[str, Turn]
) -> Iterator[Account]:
    """The account of each conversation; `upstream` gives the upstream turn of a client turn."""
    for conversation in conversations:
        yield account(conversation, upstream)


def account(conversation: Conversation, upstream: Mapping[str, Turn]) -> Account:
    """The account of one conversation."""
    sizes = Fold(_Size(), _add)
    seen = [_seen(turn, sizes(turn.prompt.messages)) for turn in conversation.turns]
    befores = [None, *seen]
    entries = tuple(
        _entry(number, before, now, upstream.get(now.turn.id))
        for number, (before, now) in enumerate(zip(befores, seen, strict=False), 1)
    )
    steps = list(_steps(seen))
    ratio = round(median(steps), 2) if steps else None
    return Account(conversation.id, ratio, len(steps), entries)


def account_json(found: Account) -> JSON:
    """As it stands in the report: what is not known is null, what is the same upstream is left
    out."""
    turns: list[JSON] = []
    for entry in found.turns:
        line = asdict(entry)
        for name in ("upstream_prompt_tokens", "upstream_cached_tokens"):
            if line[name] is None:
                del line[name]
        turns.append({**line, "marks": list(entry.marks)})
    return {
        "conversation": found.conversation,
        "characters_per_token": found.characters_per_token,
        "measured_steps": found.measured_steps,
        "turns": turns,
    }


def _seen(turn: Turn, history: _Size) -> _Seen:
    prompt = turn.prompt
    usage = (turn.reply.usage if turn.reply else None) or Usage()
    total = history.characters + sum(len(t.name) + len(t.definition) for t in prompt.tools)
    characters = None if prompt.hides_history else total
    return _Seen(turn, usage, characters, history.reasoning, history.media)


def _add(size: _Size, message: Message) -> _Size:
    total, reasoning, media = size
    for part in message.parts:
        match part:
            case Text(text):
                total += len(text)
            case Reasoning(text, signature):
                reasoning += (thought := len(text) + len(signature or ""))
                total += thought
            case ToolCall(id_, name, arguments):
                total += len(id_) + len(name) + len(arguments)
            case ToolResult(_, text, items):
                total += len(text)
                media = media or bool(items)
            case Opaque(_, value):
                total += len(value)
            case Media():
                media = True
    return _Size(total, reasoning, media)


def _entry(number: int, before: _Seen | None, now: _Seen, upstream: Turn | None) -> Entry:
    prompt, cached = now.usage.prompt, now.usage.cached
    theirs = (upstream.reply.usage if upstream and upstream.reply else None) or Usage()
    other_prompt = theirs.prompt if theirs.prompt != prompt else None
    other_cached = theirs.cached if theirs.cached != cached else None
    marks = [*_marks(before, now)] if before else []
    if other_prompt is not None and prompt is not None:
        marks.append("counted_otherwise")
    return Entry(
        number,
        now.turn.id,
        prompt,
        _grown(before.usage.prompt, prompt) if before else None,
        now.characters,
        _grown(before.characters, now.characters) if before else None,
        cached,
        _share(now.usage),
        _since(before.turn, now.turn) if before else None,
        other_prompt,
        other_cached,
        tuple(marks),
    )


def _grown(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else now - before


def _since(before: Turn, now: Turn) -> float:
    return round(now.exchange.started_at - before.exchange.started_at, 3)


def _share(usage: Usage) -> float | None:
    """None too where servers count only what was not cached: the part is larger than the whole."""
    if not usage.prompt or usage.cached is None or not 0 <= usage.cached <= usage.prompt:
        return None
    return round(usage.cached / usage.prompt, 3)


def _marks(before: _Seen, now: _Seen) -> Iterator[Mark]:
    grown = _grown(before.characters, now.characters)
    if grown is None or not _same_model(before.turn, now.turn):
        return
    counted = _grown(before.usage.prompt, now.usage.prompt)
    # What a picture costs, and whether old reasoning is still shown, is the server's affair.
    media = before.media or now.media
    spared = before.reasoning // _REASONING_TOKEN
    if grown > 0 and not media and counted is not None and counted + spared < 0:
        yield "fell"
    held, read = before.usage.cached, now.usage.cached
    if held is None or read is None or _share(now.usage) is None:
        return
    if grown >= 0 and held >= _HELD and read < _KEPT * held:
        yield "cache_dropped"


def _same_model(before: Turn, now: Turn) -> bool:
    said = [(t.prompt.model, t.reply.model if t.reply else None) for t in (before, now)]
    return said[0] == said[1]


def _steps(seen: Sequence[_Seen]) -> Iterator[float]:
    """Characters a token of each turn that grew by enough in both."""
    for before, now in pairwise(seen):
        grown = _grown(before.characters, now.characters)
        counted = _grown(before.usage.prompt, now.usage.prompt)
        if grown is None or counted is None or before.media or now.media:
            continue
        if grown >= _STEP and counted > 0 and _same_model(before.turn, now.turn):
            yield grown / counted
