"""content.null_rejected"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.base import Facts, Found, rule
from proxyaudit.rules.wording import count, excerpt

_EMPTY: tuple[JSON, ...] = ("", [], [""], [{"type": "text", "text": ""}])
_NAMED = re.compile(r"\b(null|none|content|nonetype|string)\b", re.IGNORECASE)
_ABSENT = object()


@rule("content.null_rejected", severity="warn", on=Comparison, relations=(Relation.FORWARDED,))
def null_rejected(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Empty content was rewritten to null and refused.

    What it does
        Looks at requests that the upstream refused (status 400 to 499). Reports messages whose
        content the client sent as an empty text, and that went on with null, or without content if
        the refusal speaks of it.

    Why it matters
        An empty reply in the history makes every later turn fail: the conversation is dead, and
        the message of the server names a place that the harness never wrote.

    Example
        Bad: {"content": ""} is sent on as {"content": null}; status 400, "expected string,
        received null at messages[1].content"
        Good: {"content": ""} is sent on as it is

    What to look at next
        How the proxy writes messages without text; why the reply was empty (output.empty).
    """
    status = found.right.status
    if status is None or status not in range(400, 500) or status in (401, 403, 404, 413, 429):
        return
    told = found.right.reply.error if found.right.reply else None
    speaks = bool(told and _NAMED.search(told))
    left, right = (body_json(turn.exchange.request) for turn in (found.left, found.right))
    changed = [
        (i, j)
        for i, j in found.differing
        if _content(left, found.left_messages[i].pointer) in _EMPTY
        and _is_gone(_content(right, found.right_messages[j].pointer), speaks)
    ]
    if changed:
        yield Found(
            f"the proxy made the empty content of {count(len(changed), 'message')} null, and the "
            f"upstream refused the request with status {status}",
            places=tuple(found.right_place(j, _pointer(found.right, j)) for _, j in changed),
            before=tuple(found.left_place(i, _pointer(found.left, i)) for i, _ in changed),
            confidence="certain" if speaks else "likely",
            evidence={"status": status, "text": excerpt(told or "")},
        )


def _is_gone(value: object, speaks: bool) -> bool:
    return value is None or (value is _ABSENT and speaks)


def _pointer(turn: Turn, index: int) -> str:
    return turn.prompt.messages[index].pointer + "/content"


def _content(body: JSON, pointer: str) -> object:
    """The content as it was sent, of the message at a pointer."""
    value: object = body
    for step in pointer.split("/")[1:]:
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value.get(step, _ABSENT)
        else:
            return _ABSENT
    return value.get("content", _ABSENT) if isinstance(value, dict) else _ABSENT
