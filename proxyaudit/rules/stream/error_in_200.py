"""stream.error_in_200"""

from collections.abc import Iterator

from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.base import Facts, Found, at, rule
from proxyaudit.rules.reading import event_place
from proxyaudit.rules.wording import excerpt


@rule("stream.error_in_200", severity="error", on=Turn)
def error_in_200(turn: Turn, facts: Facts) -> Iterator[Found]:
    """An error object inside a 200 stream.

    What it does
        Reports an error object (or error event, or the finish reason "error") in a reply whose
        status says success: in a stream that had begun, and in a plain body.

    Why it matters
        Clients that look at the status alone show half an answer as a whole one; clients that look
        for `choices` crash. Retries by status do not happen.

    Example
        Bad: status 200, data: {"error": {"message": "provider overloaded", "code": 502}}
        Good: status 502 with the same object, where nothing had been sent yet.

    What to look at next
        The message itself. If only the client tap shows it, the proxy turned a lost connection into
        an error event; the upstream tap says how the backend ended.
    """
    reply = turn.reply
    if reply is None or turn.status is None or turn.status not in range(200, 300):
        return
    told = [f for f in reply.stream.faults if f.kind == "error"] if reply.stream else []
    if not told and reply.error is None:
        yield from _ended_in_error(turn)
        return
    text = reply.error or told[0].detail
    if reply.stream is None and not _is_error_object(turn):
        return
    place = event_place(turn, told[0].event) if told else at(turn, "response", "/error")
    when = "in the stream" if reply.stream else "in the body"
    yield Found(
        f"an error stands {when} of a reply with status {turn.status}: {text[:80]}",
        places=(place,),
        evidence={"text": excerpt(text), "status": turn.status},
    )


def _ended_in_error(turn: Turn) -> Iterator[Found]:
    reply = turn.reply
    if reply is not None and reply.finish_raw == "error":
        yield Found(
            f"a reply with status {turn.status} ended with the finish reason “error”",
            places=(at(turn, "response", reply.finish_pointer),),
            evidence={"status": turn.status},
        )


def _is_error_object(turn: Turn) -> bool:
    """A plain body that is an object; what is no JSON at all is another matter."""
    response = turn.exchange.response
    return response is not None and isinstance(body_json(response), dict)
