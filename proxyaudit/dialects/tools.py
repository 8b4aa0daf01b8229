"""Tool definitions: one tool compares equal whatever dialect offers it."""

from collections.abc import Callable, Iterator

from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import canonical_json
from proxyaudit.core.turn import Prompt, Tool
from proxyaudit.dialects.fields import as_list, as_object, as_text, is_blank, plain, value_of_text
from proxyaudit.dialects.memo import Memo

# How a function tool may say its parameter schema.
_SCHEMAS = ("parameters", "input_schema")
_FUNCTION_TYPES = (None, "function", "custom")
_MEMO = Memo[tuple[Tool, ...]]()


def read_tools(value: JSON, pointer: str = "/tools") -> tuple[Tool, ...]:
    """The tools of a `tools` or (legacy) `functions` field."""
    return _MEMO.read(value, pointer, lambda _: tuple(_tools(value, pointer)))


def _tools(value: JSON, pointer: str) -> Iterator[Tool]:
    for at, item in enumerate(as_list(value)):
        if isinstance(item, dict):
            yield _tool(item, f"{pointer}/{at}")
        else:
            yield Tool("", canonical_json(item), f"{pointer}/{at}")


def _tool(item: JSONObject, pointer: str) -> Tool:
    kind = item.get("type")
    inner = item.get(kind) if isinstance(kind, str) else None
    flat: JSONObject = {"type": kind, **inner} if isinstance(inner, dict) else item
    name = as_text(flat.get("name")) or as_text(kind)
    if _is_function(flat):
        schema = next((flat[key] for key in _SCHEMAS if not is_blank(flat.get(key))), None)
        said: JSONObject = {"description": flat.get("description"), "parameters": schema}
    else:
        said = {key: value for key, value in flat.items() if key != "name"}
    kept = {key: value for key, value in said.items() if not is_blank(value)}
    return Tool(name, canonical_json(plain(kept)), pointer)


def _is_function(flat: JSONObject) -> bool:
    """A function with a schema. OpenAI's `custom` tools take free text and have none."""
    kind = flat.get("type")
    if kind == "custom":
        return "input_schema" in flat
    return kind in _FUNCTION_TYPES


def write_head(prompt: Prompt, write_tool: Callable[[Tool], JSON]) -> JSONObject:
    """The request fields that all dialects have in common: model, stream, tools."""
    head: JSONObject = {}
    if prompt.model is not None:
        head["model"] = prompt.model
    if prompt.stream:
        head["stream"] = True
    if prompt.tools:
        head["tools"] = [write_tool(tool) for tool in prompt.tools]
    return head


def definition(tool: Tool) -> tuple[bool, JSONObject]:
    """Whether a tool is a function, and the fields of its definition."""
    fields = as_object(value_of_text(tool.definition))
    return not set(fields) - {"description", "parameters"}, fields
