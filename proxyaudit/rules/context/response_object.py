"""The response object of the Responses format, as it was sent."""

from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.fields import value_of_text
from proxyaudit.dialects.read import body_json


def response_object(turn: Turn) -> JSON:
    """The response object: the body, or that of the last event that has one."""
    if turn.reply is None or turn.reply.stream is None:
        response = turn.exchange.response
        return body_json(response) if response else None
    for event in reversed(turn.reply.stream.events):
        if event.name.startswith("response.") or '"response"' in event.data[:2000]:
            value = value_of_text(event.data)
            if isinstance(value, dict) and isinstance(value.get("response"), dict):
                return value["response"]
    return None
