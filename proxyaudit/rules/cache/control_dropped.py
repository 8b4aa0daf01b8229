"""cache.control_dropped"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.exchange import Request
from proxyaudit.core.json import JSON
from proxyaudit.dialects.fields import step
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.wording import count

# Of the Messages format and those who took it over, and of Bedrock.
_MARKS = ("cache_control", "cachePoint", "cache_point")
_READERS = re.compile(r"claude|anthropic", re.IGNORECASE)
_BYTES = (*(mark.encode() for mark in _MARKS), b'"ttl"')


@rule("cache.control_dropped", severity="warn", on=Comparison, relations=(Relation.FORWARDED,))
def control_dropped(found: Comparison, facts: Facts) -> Iterator[Found]:
    """Cache markers are missing on the other side.

    What it does
        Counts the markers (`cache_control`, `cachePoint`) in a request at both taps. Reports it if
        fewer arrive upstream, and a `ttl` that is gone. Markers that stand elsewhere are not
        missing. A translation into a dialect that has no such markers is told at info, unless the
        model is one of Anthropic's: its servers read them in any dialect.

    Why it matters
        Without markers the provider keeps nothing: every turn pays for the whole history, and waits
        for it.

    Example
        Bad: {"system": [{"text": "…", "cache_control": {"type": "ephemeral"}}]} is sent on without
        cache_control
        Good: as many markers upstream as the harness set

    What to look at next
        `cache_read_input_tokens` of the replies; whether the proxy has an option to pass markers.
    """
    if not _may_differ(found.left.exchange.request, found.right.exchange.request):
        return
    sent = list(marks(body_json(found.left.exchange.request)))
    body = body_json(found.right.exchange.request)
    arrived = list(marks(body))
    missing = [m for m in sent if m[0] not in {p for p, _ in arrived}]
    lost = len(sent) - len(arrived)
    weaker = sum(has for _, has in sent) - sum(has for _, has in arrived) if lost <= 0 else 0
    if lost <= 0 and weaker <= 0:
        return
    shown = (missing if lost > 0 else [m for m in sent if m[1]]) or sent
    what = f"{count(lost, 'cache marker')} of {len(sent)}" if lost > 0 else "the ttl of a marker"
    translated = found.left.dialect != found.right.dialect and not arrived and not _reads(found)
    yield Found(
        f"the proxy dropped {what}",
        places=tuple(
            dict.fromkeys(at(found.right, "request", _nearest(body, p)) for p, _ in shown)
        ),
        before=tuple(at(found.left, "request", p) for p, _ in shown),
        severity="info" if translated else None,
        evidence={"sent": len(sent), "arrived": len(arrived)},
    )


def _reads(found: Comparison) -> bool:
    """Whether the model asked for is known to keep what markers say."""
    return bool(_READERS.search(found.right.prompt.model or ""))


def _may_differ(left: Request, right: Request) -> bool:
    """Cheap: nothing is parsed where the bytes of both hold as many of the words, unless packed."""
    packed = any(n.lower() == "content-encoding" for n, _ in (*left.headers, *right.headers))
    return packed or any(left.body.count(w) != right.body.count(w) for w in _BYTES)


def marks(value: JSON, pointer: str = "") -> Iterator[tuple[str, bool]]:
    """The pointer of each marker, and whether it names a ttl."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _MARKS and item:
                yield pointer + step(key), isinstance(item, dict) and bool(item.get("ttl"))
            elif isinstance(item, dict | list):
                yield from marks(item, pointer + step(key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from marks(item, f"{pointer}/{number}")


def _nearest(body: JSON, pointer: str) -> str:
    """The innermost place of a pointer that there is in a body."""
    reached = ""
    for word in pointer.split("/")[1:]:
        if isinstance(body, list) and word.isdecimal() and int(word) < len(body):
            body = body[int(word)]
        elif isinstance(body, dict) and word in body:
            body = body[word]
        else:
            break
        reached += f"/{word}"
    return reached
