"""What a request offers: names, and tools that are no plain functions."""

from collections.abc import Iterator

from proxyaudit.core.turn import Prompt, Tool
from proxyaudit.dialects.fields import as_list, as_object, as_text
from proxyaudit.dialects.tools import definition

# Tools of these types stand for others, whose names the request does not tell.
_BRINGS_OTHERS = frozenset({"mcp", "mcp_toolset", "tool_search", "connector"})
# How a call may name a tool of a namespace (Responses): alone, or behind the namespace's name.
_JOINTS = ("", ".", "_", "__", "/", ":")


def names(prompt: Prompt) -> frozenset[str]:
    """Every name that stands in the request, those within namespaces too."""
    inner = (n for tool in prompt.tools for n in _within(tool))
    return frozenset((*(tool.name for tool in prompt.tools), *inner))


def names_are_known(prompt: Prompt) -> bool:
    """Whether every name that a call may have stands in the request."""
    return bool(prompt.tools) and not any(
        _kind(t) in _BRINGS_OTHERS or (_kind(t) == "namespace" and not any(_within(t)))
        for t in prompt.tools
    )


def _within(tool: Tool) -> Iterator[str]:
    is_function, fields = definition(tool)
    if is_function or fields.get("type") != "namespace":
        return
    for item in as_list(fields.get("tools")):
        if name := as_text(as_object(item).get("name")):
            yield name
            yield from (f"{tool.name}{joint}{name}" for joint in _JOINTS)


def takes_free_text(prompt: Prompt, name: str) -> bool:
    """Whether a tool takes text instead of a JSON object."""
    return any(tool.name == name and _kind(tool) == "custom" for tool in prompt.tools)


def _kind(tool: Tool) -> str:
    is_function, fields = definition(tool)
    return "function" if is_function else str(fields.get("type", ""))
