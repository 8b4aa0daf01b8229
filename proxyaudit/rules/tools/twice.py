"""Arguments that were packed into JSON twice."""

from pydantic_core import from_json

from proxyaudit.core.json import JSON
from proxyaudit.core.message import ToolCall
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import body_json


def unwrapped(arguments: str) -> JSON:
    """The object (or list) inside arguments that are a JSON string which holds JSON; else None."""
    outer = inner = _json(arguments)
    while isinstance(inner, str):
        inner = _json(inner)
    return inner if isinstance(outer, str) and isinstance(inner, dict | list) else None


def is_packed_input(turn: Turn, call: ToolCall) -> bool:
    """Whether a plain reply of Messages gives a call's input as a string instead of an object.

    Read as arguments the two look alike, so the body itself has to tell.
    """
    response = turn.exchange.response
    if turn.dialect != "anthropic-messages" or response is None or "/stream" in call.pointer:
        return False
    value = body_json(response)
    for step in (*call.pointer.split("/")[1:], "input"):
        if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return isinstance(value, str) and isinstance(_json(value), dict)


def _json(text: str) -> JSON:
    try:
        return from_json(text)  # type: ignore[no-any-return]
    except ValueError:
        return None
