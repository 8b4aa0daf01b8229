"""Request fields under common names, so that one setting compares equal in every dialect.

max_tokens, stop (a list), tool_choice (auto, none, required or {"name": …}), parallel_tool_calls,
reasoning_effort, verbosity, response_format (flat) and thinking are common; a field without a
common name keeps its own. A field that is null says nothing and is left out.
"""

from collections.abc import Callable, Iterator, Mapping

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.dialects.fields import as_object, step, word

type Setting = tuple[str, JSON, str]

_ALIASES = {
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "stop_sequences": "stop",
}
_SAMPLING = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
_GENERATION = {
    "maxOutputTokens": "max_tokens",
    "stopSequences": "stop",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "candidateCount": "n",
}
# Objects that hold settings with common names: field -> {key in it: common name}.
_GROUPS = {
    "reasoning": {"effort": "reasoning_effort"},
    "output_config": {"effort": "reasoning_effort", "format": "response_format"},
    "text": {"format": "response_format", "verbosity": "verbosity"},
    "options": {
        "num_predict": "max_tokens",
        **{name: name for name in (*_SAMPLING, "num_ctx", "stop", "min_p", "repeat_penalty")},
    },
    "generationConfig": _GENERATION,
    "generation_config": _GENERATION,
}
_CHOICES = {"any": "required", "required": "required", "auto": "auto", "none": "none"}


def read_settings(
    body: JSONObject, structure: frozenset[str]
) -> tuple[dict[str, JSON], dict[str, str]]:
    """Settings by common name, and the pointer of each. `structure` are fields that are none.

    Of two fields with one common name the second keeps its own.
    """
    settings: dict[str, JSON] = {}
    pointers: dict[str, str] = {}
    for key, value in body.items():
        if key in structure or value is None:
            continue
        for name, item, pointer in _expanded(key, value):
            free = name if name not in settings else pointer.strip("/").replace("/", ".")
            settings[free] = item
            pointers[free] = pointer
    return settings, pointers


def _expanded(key: str, value: JSON) -> Iterator[Setting]:
    pointer = step(key)
    if key in _GROUPS and isinstance(value, dict):
        yield from _group(key, value)
    elif key == "tool_choice":
        yield key, read_choice(value), pointer
        if as_object(value).get("disable_parallel_tool_use") is True:
            yield "parallel_tool_calls", False, pointer + "/disable_parallel_tool_use"
    else:
        name = _ALIASES.get(key, key)
        yield name, _READERS.get(name, _as_sent)(value), pointer


def _group(key: str, value: JSONObject) -> Iterator[Setting]:
    names = _GROUPS[key]
    for inner, item in value.items():
        if inner in names and item is not None:
            name = names[inner]
            yield name, _READERS.get(name, _as_sent)(item), step(key) + step(inner)
    rest: JSONObject = {
        inner: item for inner, item in value.items() if inner not in names and item is not None
    }
    if rest:
        yield key, rest, step(key)


def _as_sent(value: JSON) -> JSON:
    return value


def _stop(value: JSON) -> JSON:
    return [value] if isinstance(value, str) else value


def _format(value: JSON) -> JSON:
    inner = as_object(value).get("json_schema")
    if not isinstance(value, dict) or not isinstance(inner, dict):
        return value
    return {"type": value.get("type"), **inner}


_READERS: dict[str, Callable[[JSON], JSON]] = {"stop": _stop, "response_format": _format}


def read_choice(value: JSON) -> JSON:
    """A tool choice in common words; one that no dialect knows stays as it is."""
    if isinstance(value, str):
        return _CHOICES.get(value, value)
    if not isinstance(value, dict):
        return value
    name = word(as_object(value.get("function")).get("name")) or word(value.get("name"))
    kind = value.get("type")
    if name and kind in ("function", "tool"):
        return {"name": name}
    return _CHOICES[kind] if isinstance(kind, str) and kind in _CHOICES else value


def named_choice(value: JSON) -> str | None:
    """The tool that a common tool choice names, None if it names none."""
    return word(value.get("name")) if isinstance(value, dict) and len(value) == 1 else None


def grouped(settings: Mapping[str, JSON], *groups: str) -> JSONObject:
    """Settings with those that a dialect keeps in an object put back into it."""
    body: JSONObject = dict(settings)
    for key in groups:
        inner: JSONObject = {}
        for place, name in _GROUPS[key].items():
            if name in body:
                inner[place] = body.pop(name)
        if inner:
            body[key] = {**inner, **as_object(body.get(key))}
    return body


def renamed(settings: Mapping[str, JSON], names: Mapping[str, str]) -> JSONObject:
    """Settings under the names of a dialect."""
    return {names.get(key, key): value for key, value in settings.items()}
