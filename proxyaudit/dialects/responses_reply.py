"""The response object of the Responses format."""

from proxyaudit.core.json import JSONObject
from proxyaudit.core.turn import Reply
from proxyaudit.dialects.fields import (
    as_list,
    as_object,
    error_of,
    finish_word,
    side_counts,
    word,
)
from proxyaudit.dialects.responses_items import said_message

_UNFINISHED = ("in_progress", "queued")


def read_response_object(body: JSONObject) -> Reply:
    """The reply in a response object; all of its output is one message.

    `completed` with calls counts as tool_calls, `incomplete` as its reason.
    """
    message = None
    if isinstance(body.get("output"), list):
        items = [(f"/output/{at}", item) for at, item in enumerate(as_list(body["output"]))]
        message = said_message(items, "/output")
    status = word(body.get("status"))
    raw = None if status in _UNFINISHED else status
    reason = word(as_object(body.get("incomplete_details")).get("reason"))
    finish = finish_word(reason if raw == "incomplete" and reason else raw)
    if finish == "stop" and message is not None and message.calls:
        finish = "tool_calls"
    return Reply(
        message=message,
        finish=finish,
        finish_raw=raw,
        finish_pointer="/status",
        usage=side_counts(body.get("usage"), "input", "output", "/usage"),
        model=word(body.get("model")),
        id=word(body.get("id")),
        error=error_of(body),
    )
