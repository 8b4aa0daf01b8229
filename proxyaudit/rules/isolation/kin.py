"""Which conversations may know the same: what one of them says is no secret to the other."""

from collections.abc import Iterable, Mapping

from pydantic_core import to_json

from proxyaudit.core.conversation import Conversation
from proxyaudit.core.turn import Turn

_OWNERS = ("user", "safety_identifier", "metadata", "prompt_cache_key", "promptCacheKey")


def families(conversations: Iterable[Conversation]) -> dict[str, frozenset[str]]:
    """For each conversation id, marks that it shares with its kin: its parents, the session and
    the user it was sent for, and how it begins."""
    known = {c.id: c for c in conversations}
    return {id_: frozenset(_marks(c, known)) for id_, c in known.items()}


def _marks(conversation: Conversation, known: Mapping[str, Conversation]) -> Iterable[str]:
    seen: set[str] = set()
    above: Conversation | None = conversation
    while above is not None and above.id not in seen:
        seen.add(above.id)
        yield f"conversation {above.id}"
        if above.session:
            yield f"session {above.session}"
        yield from _owners(above.turns[:1])
        above = known.get(above.parent or "")


def _owners(turns: Iterable[Turn]) -> Iterable[str]:
    for turn in turns:
        for name in _OWNERS:
            if turn.prompt.settings.get(name):
                yield f"{name} {to_json(turn.prompt.settings[name]).decode('utf-8', 'replace')}"
        first = next((m for m in turn.prompt.messages if m.role == "user"), None)
        if first is not None:
            yield f"begins {first.content}"
