"""stream.done_missing"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, at, rule

# Of these ends nothing follows about what the other side would still have sent.
_NOT_TO_JUDGE = frozenset({"client_abort", "recorder_stopped"})


@rule("stream.done_missing", severity="warn", on=Turn)
def done_missing(turn: Turn, facts: Facts) -> Iterator[Found]:
    """Stream finished without the end sentinel.

    What it does
        Looks at streams that gave a finish reason and then ended without the dialect's last word
        (`data: [DONE]`, `message_stop`, …). Where the client hung up itself, nothing is said; a
        stream without a finish reason is stream.truncated.

    Why it matters
        Clients that wait for the sentinel hang until a timeout, or treat the reply as broken and
        send the request again. What stands between finish and sentinel (usage) may be lost, too.

    Example
        Bad: data: {… "finish_reason": "stop"} and the end of the body.
        Good: data: {… "finish_reason": "stop"} and data: [DONE]

    What to look at next
        The last bytes of the stream (`proxyaudit show --raw`) at both taps.
    """
    reply, exchange = turn.reply, turn.exchange
    if reply is None or reply.stream is None or reply.error is not None:
        return
    stream = reply.stream
    if stream.done or not stream.needs_done or reply.finish is None:
        return
    if exchange.end in _NOT_TO_JUDGE or turn.status not in range(200, 300):
        return
    yield Found(
        f"the stream ended after {reply.finish_raw or reply.finish!r} without its end sentinel",
        places=(at(turn, "response", "/stream"),),
        evidence={"events": len(stream.events), "end": exchange.end},
    )
