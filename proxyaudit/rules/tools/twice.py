"""Arguments that were packed into JSON twice."""

from pydantic_core import from_json

from proxyaudit.core.json import JSON


def unwrapped(arguments: str) -> JSON:
    """The object (or list) inside arguments that are a JSON string which holds JSON; else None."""
    inner = _json(arguments)
    while isinstance(inner, str):
        inner = _json(inner)
    outer = _json(arguments)
    return inner if isinstance(outer, str) and isinstance(inner, dict | list) else None


def _json(text: str) -> JSON:
    try:
        return from_json(text)  # type: ignore[no-any-return]
    except ValueError:
        return None
