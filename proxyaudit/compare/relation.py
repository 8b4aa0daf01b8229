"""Build the comparisons: next turn, forwarded, returned."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from proxyaudit.compare.align import Alignment, align
from proxyaudit.compare.marks import is_chore, summary_index
from proxyaudit.compare.matching import leading_system
from proxyaudit.compare.text import similarity
from proxyaudit.compare.thread import Placed
from proxyaudit.core.comparison import Change, Comparison, Relation
from proxyaudit.core.exchange import header
from proxyaudit.core.finding import Suspect
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.unnamed import NO_IDS, has_ids, lacks_ids, without_ids
from proxyaudit.harnesses.base import harness_of

type Summaries = Callable[[], Collection[str]]


def next_turn(
    placed: Placed, right: Turn, summaries: Summaries = tuple, *, echo: bool = True
) -> Comparison | None:
    """History N and reply N against history N+1; None if there is nothing to compare with.

    `summaries` gives texts that may lawfully stand for earlier history, replies to side requests;
    it is asked only where something of that history is gone.
    `echo` says whether reply N has to come back at all.
    """
    left = placed.left
    if left is None or placed.repeat:
        return None
    reply = left.reply.message if left.ok and left.reply else None
    echo = echo and reply is not None and not reply.is_empty
    said = (*left.prompt.messages, reply) if echo and reply else left.prompt.messages
    history, after = _alike(left, right, said, right.prompt.messages)
    alignment = align(history, after)
    # Who rewrites what a harness sent is out of sight if only the upstream tap was recorded.
    suspect: Suspect = "harness" if left.exchange.tap == "client" else "unknown"
    whole = Comparison(
        Relation.NEXT_TURN,
        left,
        right,
        history,
        after,
        _without_growth(alignment, after),
        alignment.kept,
        alignment.aligned,
        suspect,
        echo=echo,
        forked=placed.forked,
    )
    return _judged(whole, summaries)


def forwarded(client: Turn, upstream: Turn) -> Comparison:
    """The same request at the client tap (left) and at the upstream tap (right)."""
    left, right = _alike(client, upstream, client.prompt.messages, upstream.prompt.messages)
    return _over_hop(Relation.FORWARDED, client, upstream, left, right)


def returned(upstream: Turn, client: Turn) -> Comparison:
    """The same reply at the upstream tap (left) and at the client tap (right)."""
    left, right = _alike(upstream, client, _said(upstream), _said(client))
    return _over_hop(Relation.RETURNED, upstream, client, left, right)


def _over_hop(
    relation: Relation,
    one: Turn,
    other: Turn,
    left: tuple[Message, ...],
    right: tuple[Message, ...],
) -> Comparison:
    found = align(left, right)
    return Comparison(
        relation, one, other, left, right, found.changes, found.kept, found.aligned, "proxy"
    )


def _alike(
    one: Turn, other: Turn, left: tuple[Message, ...], right: tuple[Message, ...]
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Both sides as they are; without the ids of calls if one side does not know all of them.

    So a history with ids compares equal to its translation into a format that has none.
    """
    may_lack = bool({one.dialect, other.dialect} & NO_IDS)
    if not (may_lack and lacks_ids(left, right) and has_ids(left, right)):
        return left, right
    return without_ids(left), without_ids(right)


def _said(turn: Turn) -> tuple[Message, ...]:
    message = turn.reply.message if turn.reply else None
    return (message,) if message else ()


def _without_growth(found: Alignment, right: Sequence[Message]) -> tuple[Change, ...]:
    """Drop what turn N+1 adds at its end: that is how a conversation grows.

    A repeated assistant message stays a change even there: a harness does not write one itself.
    """
    last = max((j for _, j in found.aligned), default=found.kept - 1)
    return tuple(
        change
        for change in found.changes
        if not (
            change.right.start > last
            and (
                change.kind == "added"
                or (change.kind == "duplicated" and right[change.right.start].role != "assistant")
            )
        )
    )


def _judged(found: Comparison, summaries: Summaries) -> Comparison:
    """Tell apart the ways in which a history may lawfully or unlawfully come up short."""
    if not any(c.kind in ("dropped", "rewritten", "role_changed") for c in found.changes):
        return found
    summary = _summary(found, summaries())
    if summary is None and _new_window(found):
        summary = next((j for j in range(len(found.right_messages)) if _is_new(found, j)), None)
    if summary is not None:
        return replace(found, compacted=True, summary=summary, pending=_pending(found))
    if _is_rewind(found):
        return replace(found, forked=True)
    return replace(found, reset=_is_reset(found))


def _summary(found: Comparison, summaries: Collection[str]) -> int | None:
    reply = found.left.reply.message if found.left.reply else None
    if reply and is_chore(found.left.prompt.messages):
        # The summary was asked for in the conversation itself.
        summaries = [*summaries, reply.text]
    new = [j for j in range(len(found.right_messages)) if _is_new(found, j)]
    index = summary_index([found.right_messages[j] for j in new], summaries)
    return None if index is None else new[index]


def _new_window(found: Comparison) -> bool:
    """Whether the harness says in a header of its own that it compacted."""
    name = harness_of(found.left.exchange).window
    if name is None:
        return False
    before, after = (header(t.exchange.request.headers, name) for t in (found.left, found.right))
    return None not in (before, after) and before != after


def _is_new(found: Comparison, j: int) -> bool:
    content = found.right_messages[j].content
    return all(m.content != content for m in found.left_messages)


def _pending(found: Comparison) -> int | None:
    """A user message that was the last word on the left, and is gone on the right."""
    last = len(found.left_messages) - 1
    if last < 0 or found.left_messages[last].role != "user":
        return None
    text = found.left_messages[last].text.strip()
    kept = last < found.kept or any(i == last for i, _ in found.aligned)
    quoted = bool(text) and any(text in m.text for m in found.right_messages)
    return None if kept or quoted else last


def _is_rewind(found: Comparison) -> bool:
    """The tail is cut at a user message and another user message stands in its place."""
    left, right = found.left_messages, found.right_messages
    keep = 0
    while keep < min(len(left), len(right)) and left[keep].content == right[keep].content:
        keep += 1
    if keep >= min(len(left), len(right)) or right[-1].role != "user":
        return False
    if left[keep].role != "user" or any(m.role != "user" for m in right[keep:]):
        return False
    gone = {m.content for m in left[keep:]}
    if any(m.content in gone for m in right[keep:]):
        return False
    return keep > leading_system(left) or _is_edit(left, keep, right[keep])


def _is_edit(left: Sequence[Message], first: int, new: Message) -> bool:
    """Whether the first user message was edited: the new one is like it, and more so than like
    any later one (who asks alike each time has not gone back)."""
    asked = [m.text for m in left[first:] if m.role == "user"]
    alike = [similarity(text, new.text) for text in asked]
    return alike[0] >= 0.75 and alike[0] > max(alike[1:], default=0.0) + 0.05


def _is_reset(found: Comparison) -> bool:
    """None of the earlier turns is left, though there were some. A question that got no answer
    yet is no earlier turn: it may well be asked again with all else lost."""
    start = leading_system(found.left_messages)
    head = leading_system(found.right_messages)
    told = any(m.role == "assistant" for m in found.left_messages[start:])
    last = max((i for i, m in enumerate(found.left_messages) if m.role != "user"), default=-1)
    answered = any(m.role == "assistant" for m in found.right_messages[head:])
    # What is alike is not the same: a new question may well resemble an old one.
    enough = 0.5 if answered else 1.0
    inside = [(i, j) for i, j in found.pairs if start <= i <= last and j >= head]
    return told and not any(_likeness(found, i, j) >= enough for i, j in inside)


def _likeness(found: Comparison, i: int, j: int) -> float:
    left, right = found.left_messages[i], found.right_messages[j]
    return 1.0 if left.content == right.content else min(0.99, similarity(left.text, right.text))
