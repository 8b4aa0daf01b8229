"""transport.gateway_timeout"""

import re
from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.exchange import Response, header
from proxyaudit.core.finding import Severity
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.wording import excerpt
from proxyaudit.wire.content import decoded

# 504 says so; 524 and 522 are Cloudflare's words for it. The others may have other causes.
_TIMEOUT, _MAYBE = frozenset({504, 522, 524}), frozenset({408, 500, 502, 503})
_TOLD = re.compile(r"time[d-]?[ -]?out|deadline exceeded", re.IGNORECASE)
# A hop that cannot reach a backend says so at once; one that gave up on it has waited.
_WAITED = 5.0


@rule("transport.gateway_timeout", severity="error", on=Turn)
def gave_up(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """502/504 from a hop while the model was working.

    What it does
        Reports status 504 (522 and 524 of Cloudflare), 502, 503 or 408 after five seconds or with a
        text that speaks of a timeout, and 500 with both. With two taps, also one that the client
        got though the backend answered well. A 502 at once is told at info: nobody was there to be
        waited for.

    Why it matters
        A model that thinks for minutes is cut off, the harness sends the request again, and the
        backend works on both.

    Example
        Bad: status 504 at the client after 60 seconds, status 200 upstream after 141 seconds
        Good: the hop waits, or the reply is streamed

    What to look at next
        Read timeouts of each hop (nginx `proxy_read_timeout`: 60 seconds unless set), and whether
        the harness asks for a stream.
    """
    response = turn.exchange.response
    if response is None or response.status not in _TIMEOUT | _MAYBE or _is_plain_500(response):
        return
    waited = f" after {response.ended_at:.1f} s" if response.ended_at is not None else ""
    yield Found(
        f"a hop gave up waiting for the model{waited}: status {response.status}",
        places=(at(turn, "response", "/status"),),
        severity=_severity(response),
        evidence=_evidence(response),
    )


@rule("transport.gateway_timeout", severity="error", on=Comparison, relations=(Relation.RETURNED,))
def though_it_answered(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    response = found.right.exchange.response
    if response is None or not found.left.ok or response.status not in _TIMEOUT | _MAYBE:
        return
    if _is_plain_500(response):
        return
    yield Found(
        f"the client got status {response.status}, though the backend answered",
        places=(at(found.right, "response", "/status"),),
        before=(at(found.left, "response", "/status"),),
        evidence=_evidence(response),
    )


def _is_plain_500(response: Response) -> bool:
    """A crash of something, where neither the time nor the text speaks of waiting."""
    if response.status != 500:
        return False
    return (response.ended_at or 0.0) < _WAITED or not _TOLD.search(_text(response))


def _severity(response: Response) -> Severity | None:
    if response.status in _TIMEOUT or _TOLD.search(_text(response)):
        return None
    waited = response.ended_at is not None and response.ended_at >= _WAITED
    return None if waited and response.status != 503 else "info"


def _evidence(response: Response) -> dict[str, JSON]:
    return {
        "status": response.status,
        "seconds": response.ended_at,
        "server": header(response.headers, "server"),
        "text": excerpt(_text(response)),
    }


def _text(response: Response) -> str:
    return decoded(response.headers, response.body).data[:2000].decode("utf-8", "replace")
