"""stream.truncated"""

from collections.abc import Iterator

from pydantic_core import from_json

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Skip
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.wording import count
from proxyaudit.wire.content import decoded

_BROKEN = {
    "upstream_reset": "the connection was reset",
    "upstream_eof": "the other side closed the connection",
    "timeout": "the time ran out",
}
_OWN_DOING = frozenset({"client_abort", "recorder_stopped"})


@rule("stream.truncated", severity="error", on=Turn)
def truncated(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """Stream ended before any finish_reason.

    What it does
        Looks at replies with a success status that break off: a stream without a finish reason, a
        body that is half a JSON object, a connection that was lost. A client that hung up itself
        and an error told in the stream (stream.error_in_200) are another matter.

    Why it matters
        The harness takes half an answer for a whole one, runs half a call, or sends the request
        again and keeps both replies.

    Example
        Bad: data: {… "content": "The river comes from "} and the end of the body.
        Good: data: {… "content": "the hills."}, data: {… "finish_reason": "stop"}, data: [DONE]

    What to look at next
        Read timeouts and body limits of the proxy. Some (HTTP/1.0, Caddy) make a crash of the
        backend look like a proper end: compare the upstream tap.
    """
    if turn.status is None or turn.status not in range(200, 300):
        return
    if turn.exchange.end in _OWN_DOING:
        yield Skip("the client or the recorder ended the exchange")
        return
    problem = _problem(turn)
    if problem is None:
        if turn.exchange.end == "error":
            yield Skip("how the exchange ended is not known")
        return
    if turn.is_websocket and turn.exchange.end == "complete":
        yield Skip("who closed the websocket in the middle of the answer was not recorded")
        return
    how = _BROKEN.get(turn.exchange.end)
    text = f"{problem} ({how})" if how else problem
    evidence: dict[str, JSON] = {"end": turn.exchange.end, "error": turn.exchange.error}
    yield Found(text, places=(at(turn, "response", _pointer(turn)),), evidence=evidence)


def _problem(turn: Turn) -> str | None:
    reply, broken = turn.reply, turn.exchange.end in _BROKEN
    if reply is not None and (reply.finish is not None or reply.error is not None):
        return _half_body(turn.exchange)
    if reply is not None and reply.stream is not None:
        if reply.stream.done and reply.message is None and not broken:
            return None  # Its last word alone: output.empty.
        return f"the stream broke off after {count(len(reply.stream.events), 'event')}"
    if broken and turn.prompt.stream:
        return "the stream broke off"
    return "the reply broke off" if broken else _half_body(turn.exchange)


def _half_body(exchange: Exchange) -> str | None:
    """A body that begins as a JSON object and does not end as one."""
    if exchange.response is None:
        return None
    body = decoded(exchange.response.headers, exchange.response.body).data.strip()
    if not body.startswith(b"{"):
        return None
    try:
        from_json(body)
    except ValueError as problem:
        return "the reply broke off inside its JSON" if "EOF" in str(problem) else None
    return None


def _pointer(turn: Turn) -> str:
    plain = turn.reply is not None and turn.reply.stream is None and not turn.prompt.stream
    return "" if plain else "/stream"
