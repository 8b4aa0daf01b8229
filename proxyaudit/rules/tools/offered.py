"""What a request offers: names, and tools that are no plain functions."""

from proxyaudit.core.turn import Prompt, Tool
from proxyaudit.dialects.tools import definition

# Tools of these types stand for others, whose names the request does not tell.
_BRINGS_OTHERS = frozenset({"mcp", "mcp_toolset", "namespace", "tool_search", "connector"})


def names(prompt: Prompt) -> frozenset[str]:
    return frozenset(tool.name for tool in prompt.tools)


def names_are_known(prompt: Prompt) -> bool:
    """Whether every name that a call may have stands in the request."""
    return bool(prompt.tools) and not any(_kind(t) in _BRINGS_OTHERS for t in prompt.tools)


def takes_free_text(prompt: Prompt, name: str) -> bool:
    """Whether a tool takes text instead of a JSON object."""
    return any(tool.name == name and _kind(tool) == "custom" for tool in prompt.tools)


def _kind(tool: Tool) -> str:
    is_function, fields = definition(tool)
    return "function" if is_function else str(fields.get("type", ""))
