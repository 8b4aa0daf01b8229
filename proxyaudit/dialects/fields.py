"""Small readers for JSON of any shape, shared by the dialects. None of them raises."""

import json
import re
from collections.abc import Iterator
from urllib.parse import unquote

from pydantic_core import from_json, to_json

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Opaque, Part, canonical_json, digest
from proxyaudit.core.turn import Usage

QUOTE = 200
"""So many characters of a text that is no JSON are quoted."""

_NAMED_IN_PATH = re.compile(r"/([^/:]+):(generate|streamGenerate)Content/?$", re.IGNORECASE)

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "eos": "stop",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "incomplete": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def parse_json(data: bytes | str) -> JSON:
    """JSON as a value; halves of a surrogate pair become question marks. ValueError if it is none.

    Nesting deeper than 200 counts as no JSON: no harness sends it, and it would break readers.
    """
    try:
        return from_json(data)  # type: ignore[no-any-return]
    except ValueError:
        try:
            loose = json.dumps(json.loads(data), ensure_ascii=False)
        except RecursionError as problem:
            raise ValueError("nested too deeply") from problem
        return from_json(loose.encode("utf-8", "replace"))  # type: ignore[no-any-return]


def path_of(exchange: Exchange) -> str:
    """The path of the request without query and closing slash, in lower case."""
    return exchange.request.url.partition("#")[0].partition("?")[0].rstrip("/").lower()


def fields_of_path(exchange: Exchange) -> JSONObject:
    """What other formats say in the body, and some say in the path: the model, and to stream."""
    found = _NAMED_IN_PATH.search(exchange.request.url.partition("?")[0])
    if not found:
        return {}
    return {"model": unquote(found[1]), "stream": found[2].lower() == "streamgenerate"}


def looks_like_anthropic(body: JSONObject) -> bool:
    """Whether a request with `messages` has marks that only the Messages format has."""
    if any(key in body for key in ("anthropic_version", "system", "stop_sequences")):
        return True
    if any("input_schema" in tool for _, tool in objects(body.get("tools"))):
        return True
    blocks = (
        block
        for _, item in objects(body.get("messages"))
        for _, block in objects(item.get("content"))
    )
    return any(block.get("type") in ("tool_use", "tool_result") for block in blocks)


def as_text(value: JSON) -> str:
    """A string, or "" for anything else."""
    return value if isinstance(value, str) else ""


def word(value: JSON) -> str | None:
    """A string that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def as_object(value: JSON) -> JSONObject:
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def objects(value: JSON) -> Iterator[tuple[int, JSONObject]]:
    """The objects of a list with their places; whatever else is in it is left out."""
    return ((at, item) for at, item in enumerate(as_list(value)) if isinstance(item, dict))


def integer(value: JSON) -> int | None:
    """A count: a whole number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value and abs(value) != float("inf") else None


def first_integer(*values: JSON) -> int | None:
    return next((found for value in values if (found := integer(value)) is not None), None)


def is_blank(value: JSON) -> bool:
    """Whether a field says as much as its absence: null, "", [] or {}."""
    return value is None or value == "" or value == [] or value == {}


def dump(value: JSON) -> str:
    """JSON in the order in which it was sent, without spaces."""
    return to_json(value, inf_nan_mode="constants").decode("utf-8", "replace")


def wire_of(value: JSON) -> str:
    """The digest of a JSON value as it was sent: the order of keys counts."""
    return digest(dump(value))


def step(name: str) -> str:
    """One name as a step of a JSON pointer (RFC 6901)."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def plain(value: JSON) -> JSON:
    """A value without the marks that never reach the model (`cache_control`), at any depth."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "cache_control"}
    return [plain(item) for item in value] if isinstance(value, list) else value


def opaque(kind: str, value: JSON, pointer: str) -> Opaque:
    """A part that no dialect knows."""
    return Opaque(kind, canonical_json(plain(value)), pointer)


def opaque_fields(item: JSONObject, known: frozenset[str], pointer: str) -> list[Part]:
    """The fields that a dialect does not know, as parts `field:NAME`, in order of their names."""
    return [
        opaque(f"field:{key}", item[key], pointer + step(key))
        for key in sorted(item)
        if key not in known and not is_blank(item[key])
    ]


def value_of_text(text: str) -> JSON:
    """The JSON value of a text; the text itself if it is no JSON."""
    try:
        return parse_json(text)
    except ValueError:
        return text


def finish_word(raw: str | None) -> str | None:
    """A finish reason in common words: stop, length, tool_calls, content_filter, or as sent."""
    return _FINISH.get(raw, raw) if raw else None


def error_of(body: JSONObject) -> str | None:
    """The text of an error object in a body; None if there is no error in it."""
    error = body.get("error")
    if is_blank(error) or error is False:
        return _bare_error(body)
    if isinstance(error, dict):
        text = word(error.get("message")) or word(error.get("type")) or dump(error)
        return text[: 10 * QUOTE]
    return error if isinstance(error, str) else dump(error)


_ANSWERS = frozenset({"choices", "output", "content", "candidates", "response", "data"})


def _bare_error(body: JSONObject) -> str | None:
    """An error without an object around it, as servers in Python send it: {"object": "error", …},
    {"detail": "…"}, {"status": 500, "message": "…"}."""
    if body.keys() & _ANSWERS:
        return None
    message, detail = word(body.get("message")), word(body.get("detail"))
    if body.get("object") == "error":
        return (message or dump(body))[: 10 * QUOTE]
    if message and (first_integer(body.get("status"), body.get("code")) or 0) >= 400:
        return message[: 10 * QUOTE]
    return detail[: 10 * QUOTE] if detail and len(body) == 1 else None


def refusal_text(data: bytes) -> str:
    """What a refused request was told: the message in the body, or its first characters."""
    try:
        body = as_object(parse_json(data))
    except ValueError:
        body = {}
    said = error_of(body) or word(body.get("message")) or word(body.get("detail"))
    return said or data[: 4 * QUOTE].decode("utf-8", "replace")[:QUOTE]


def side_counts(value: JSON, prompt: str, completion: str, pointer: str) -> Usage | None:
    """Usage in the OpenAI way, whose prompt count includes cached tokens; None if there is none.

    `prompt` and `completion` are the two words of the dialect (`prompt`, `completion` or `input`,
    `output`); some servers give cache counts under names of their own.
    """
    if not isinstance(value, dict):
        return None
    inner = as_object(value.get(f"{prompt}_tokens_details"))
    outer = as_object(value.get(f"{completion}_tokens_details"))
    return Usage(
        prompt=integer(value.get(f"{prompt}_tokens")),
        completion=integer(value.get(f"{completion}_tokens")),
        total=integer(value.get("total_tokens")),
        cached=first_integer(
            inner.get("cached_tokens"),
            value.get("prompt_cache_hit_tokens"),
            value.get("cache_read_input_tokens"),
        ),
        reasoning=integer(outer.get("reasoning_tokens")),
        written=first_integer(
            inner.get("cache_write_tokens"),
            inner.get("cache_creation_tokens"),
            value.get("cache_creation_input_tokens"),
        ),
        pointer=pointer,
    )
