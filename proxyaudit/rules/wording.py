"""Words that several rules share: who did it, and how to name a message in a sentence."""

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.json import JSON
from proxyaudit.core.message import Message

_ACTORS = {"harness": "the harness", "proxy": "the proxy", "server": "the server"}
# Enough of a text to show a change in its surroundings; the bytes are one `show --raw` away.
_EXCERPT = 4000


def actor(found: Comparison) -> str:
    """Who stands between left and right."""
    return _ACTORS.get(found.suspect, "something in front of the backend")


def where(found: Comparison) -> str:
    """Between what the two sides were seen."""
    return "between the taps" if found.relation is not Relation.NEXT_TURN else "since the last turn"


def named(message: Message) -> str:
    """A message in a few words: its role, and how it begins."""
    if message.calls:
        names = ", ".join(c.name or "(no name)" for c in message.calls)
        return f"{message.role} message calling {names}"
    kind = "tool result" if message.role == "tool" else f"{message.role} message"
    words = " ".join(message.text.split())
    return f"{kind} “{words[:48]}…”" if len(words) > 49 else f"{kind} “{words}”"


def count(number: int, noun: str) -> str:
    """1 message, 2 messages."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def excerpt(text: str) -> str:
    """A text short enough for evidence: head and tail of a long one."""
    if len(text) <= _EXCERPT:
        return text
    half = _EXCERPT // 2
    return f"{text[:half]}\n[… {len(text) - _EXCERPT:,} characters left out …]\n{text[-half:]}"


def around(before: str, after: str) -> dict[str, JSON]:
    """Evidence `before` and `after`, cut to the surroundings of the first and last difference."""
    start = 0
    limit = min(len(before), len(after))
    while start < limit and before[start] == after[start]:
        start += 1
    end = 0
    while end < limit - start and before[-1 - end] == after[-1 - end]:
        end += 1
    start, end = max(0, start - 200), max(0, end - 200)
    return {
        "before": _window(before, start, end),
        "after": _window(after, start, end),
    }


def _window(text: str, start: int, end: int) -> str:
    inner = excerpt(text[start : len(text) - end])
    head = f"[… {start:,} equal characters …] " if start else ""
    tail = f" [… {end:,} equal characters …]" if end else ""
    return f"{head}{inner}{tail}"
