"""system.not_first"""

from collections.abc import Iterator, Sequence

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.wording import actor, count, excerpt, named

# Of the dialects, chat completions alone hands the order of roles to the chat template.
_STRICT = "openai-chat"


@rule("system.not_first", severity="warn", on=Turn)
def in_request(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """A system message stands after other messages.

    What it does
        Looks in requests of chat completions for a system message behind a user, assistant or tool
        message. `developer` messages in the middle are reported at info, unless the request was
        refused. Responses and Messages allow instructions anywhere. Across the hop it says who
        moved them there.

    Why it matters
        Many chat templates refuse it ("System message must be at the beginning"), some print it in
        the middle, some drop it without a word.

    Example
        Bad: [system A, user B, system C, user D]
        Good: [system A + C, user B, user D]

    What to look at next
        The chat template of the served model: what does it do with a late system message?
    """
    if turn.dialect != _STRICT:
        yield Skip("this dialect allows instructions anywhere")
        return
    late = _late(turn.prompt.messages)
    if not late:
        return
    first = turn.prompt.messages[late[0]]
    refused = turn.status is not None and turn.status >= 400
    developer = all(turn.prompt.messages[i].raw_role == "developer" for i in late)
    stands = "stands" if len(late) == 1 else "stand"
    yield Found(
        f"{count(len(late), 'system message')} {stands} after other messages: {named(first)}",
        places=tuple(at(turn, "request", turn.prompt.messages[i].pointer) for i in late),
        severity="info" if developer and not refused else None,
        evidence={"text": excerpt(first.text)},
    )


@rule("system.not_first", severity="warn", on=Comparison, relations=(Relation.FORWARDED,))
def on_the_way(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    if found.right.dialect != _STRICT:
        return
    lawful = found.left.dialect != _STRICT
    before = frozenset[int]() if lawful else frozenset(_late(found.left_messages))
    late = frozenset(_late(found.right_messages))
    for i, j in found.pairs:
        if j not in late or i in before:
            continue
        yield Found(
            f"{actor(found)} put a system message after other messages: "
            f"{named(found.right_messages[j])}",
            places=(found.right_place(j),),
            before=(found.left_place(i),),
            evidence={"text": excerpt(found.right_messages[j].text)},
        )


def _late(messages: Sequence[Message]) -> list[int]:
    """Indices of system messages behind a message of another role."""
    start = next((n for n, m in enumerate(messages) if m.role != "system"), len(messages))
    return [n for n in range(start, len(messages)) if messages[n].role == "system"]
