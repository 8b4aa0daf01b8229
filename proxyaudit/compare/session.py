"""The labels that harnesses put on requests: hints for grouping, never trusted alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic_core import from_json

from proxyaudit.core.exchange import Headers, header
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn

# Codex tells in a header, a JSON object, what a request is for.
_TOLD, _CHORES = "x-codex-turn-metadata", frozenset({"compaction", "compact", "title", "summary"})
# Body fields in which harnesses repeat their session label (Codex, opencode).
_BODY_FIELDS = ("prompt_cache_key", "promptCacheKey", "session_id")


@dataclass(frozen=True, slots=True)
class Label:
    """`session` and `parent` as sent; `agent` tells subagents that share a session apart."""

    session: str | None = None
    parent: str | None = None
    agent: str | None = None


def label(turn: Turn) -> Label:
    """The session label of a turn, from its headers or, failing that, from its body."""
    headers = turn.exchange.request.headers
    return Label(
        session=_header(headers, ("session",), without="parent") or _in_body(turn.prompt.settings),
        parent=_header(headers, ("parent", "session")),
        agent=_header(headers, ("agent", "id"), without="parent"),
    )


def states_chore(turn: Turn) -> bool:
    """Whether the harness itself says that a request is a side request."""
    try:
        told = from_json(header(turn.exchange.request.headers, _TOLD) or "null")
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("request_kind") in _CHORES


def _header(headers: Headers, words: tuple[str, ...], without: str = "\0") -> str | None:
    named = [
        (name.lower(), value)
        for name, value in headers
        if all(word in name.lower().replace("user-agent", "") for word in words)
        and without not in name.lower()
        and value.strip()
    ]
    # The plain id first: `x-session-id` before `x-session-affinity`.
    named.sort(key=lambda item: (not item[0].endswith("id"), item[0]))
    return named[0][1] if named else None


def _in_body(settings: Mapping[str, JSON]) -> str | None:
    for name in _BODY_FIELDS:
        value = settings.get(name)
        if isinstance(value, str) and value:
            return value
    return _in_metadata(settings.get("metadata"))


def _in_metadata(metadata: JSON) -> str | None:
    """Claude Code puts a JSON object with a session id into `metadata.user_id`."""
    if not isinstance(metadata, dict):
        return None
    session = metadata.get("session_id")
    if isinstance(session, str):
        return session
    user = metadata.get("user_id")
    if isinstance(user, str) and user.startswith("{"):
        try:
            inner = from_json(user)
        except ValueError:
            return None
        found = inner.get("session_id") if isinstance(inner, dict) else None
        return found if isinstance(found, str) else None
    return None
