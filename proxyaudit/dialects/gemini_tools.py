"""Tools of the Gemini format: declarations in groups, and the choice among them."""

from collections.abc import Iterator, Sequence

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import canonical_json
from proxyaudit.core.turn import Tool
from proxyaudit.dialects.fields import as_list, as_object, as_text, is_blank, objects, plain, step
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.tools import definition

_GROUPS = ("functionDeclarations", "function_declarations")
_SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters")
_MODES: dict[str, JSON] = {"ANY": "required", "AUTO": "auto", "NONE": "none"}
_MEMO = Memo[tuple[Tool, ...]]()


def read_declarations(value: JSON, pointer: str = "/tools") -> tuple[Tool, ...]:
    """The functions of all groups, and other tools (search, code, …) by the name of their field."""
    return _MEMO.read(value, pointer, lambda _: tuple(_tools(value, pointer)))


def _tools(value: JSON, pointer: str) -> Iterator[Tool]:
    groups = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    for at, group in enumerate(groups):
        place = f"{pointer}/{at}"
        if not isinstance(group, dict):
            yield Tool("", canonical_json(group), place)
            continue
        for key, inner in group.items():
            if key in _GROUPS:
                for n, item in objects(inner):
                    yield _function(item, f"{place}/{key}/{n}")
            else:
                yield Tool(key, canonical_json({"type": key, key: plain(inner)}), place + step(key))


def _function(item: JSONObject, pointer: str) -> Tool:
    schema = next((item[key] for key in _SCHEMAS if not is_blank(item.get(key))), None)
    said: JSONObject = {"description": item.get("description"), "parameters": _lowered(schema)}
    kept = {key: value for key, value in said.items() if not is_blank(value)}
    return Tool(as_text(item.get("name")), canonical_json(plain(kept)), pointer)


def _lowered(schema: JSON) -> JSON:
    """A schema with its types as JSON Schema writes them: this format has OBJECT for object."""
    if isinstance(schema, list):
        return [_lowered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lowered(value)
        for key, value in schema.items()
    }


def write_tools(tools: Sequence[Tool]) -> list[JSON]:
    """Each tool in a group of its own, so that their order is kept."""
    return [_written(tool) for tool in tools]


def _written(tool: Tool) -> JSON:
    is_function, fields = definition(tool)
    if is_function:
        return {"functionDeclarations": [{"name": tool.name, **fields}]}
    return {tool.name: fields.get(tool.name, fields)}


def read_choice(value: JSON) -> JSON:
    """The tool choice of a `toolConfig` in common words; as sent if no word fits; None if none."""
    config = as_object(value)
    inner = as_object(config.get("functionCallingConfig", config.get("function_calling_config")))
    mode = as_text(inner.get("mode")).upper()
    names = as_list(inner.get("allowedFunctionNames", inner.get("allowed_function_names")))
    if mode == "ANY" and len(names) == 1 and isinstance(names[0], str) and names[0]:
        return {"name": names[0]}
    if names or mode not in _MODES:
        return None if is_blank(value) else value
    return _MODES[mode]
