"""Calls written out in text by no mark of a model family: they tell by the names of the tools."""

import re
from collections.abc import Collection, Sequence

from proxyaudit.core.turn import Tool

# {"name": …, "arguments": …}, in a list, behind a type or an id, or inside {"tool_calls": […]}.
_JSON = re.compile(
    r"""^[ \t]{0,8}(?P<fence>```\w*\n\s*)?\[?\s{0,8}\{\s{0,20}
    (?:"tool_calls"\s*:\s*\[\s{0,20}\{\s{0,20})?
    (?:"(?:type|id)"\s*:\s*"[^"\n]{0,80}"\s*,\s{0,20}){0,2}
    (?:"function"\s*:\s*\{\s{0,20})?
    "(?:name|function|tool)"\s*:\s*"(?P<name>[^"\n]{1,128})"\s*,\s{0,20}
    "(?:arguments|parameters|input)"\s*:\s*[{"]""",
    re.VERBOSE | re.MULTILINE,
)
_PYTHON = re.compile(r"^\[\s?(?P<name>[A-Za-z_][\w.-]{0,127})\((?:\)|\s?\w{1,128}\s?=)", re.M)
_CODE = re.compile(r"^```tool_(?:code|call)\n(?P<body>[^`]{0,2000})", re.MULTILINE)
_REACT = re.compile(
    r"^[*_ ]{0,4}Action:[*_ ]{0,4}(?P<name>[^\n]{1,128})\n+[*_ ]{0,4}Action[ _]Input:", re.MULTILINE
)
_ELEMENT = re.compile(
    r"^[ \t]{0,8}<(?P<name>[A-Za-z_][\w.-]{0,127})>\s{0,20}<(?P<of>[\w.-]{1,128})>", re.M
)


def written_call(text: str, plain: str, tools: Sequence[Tool]) -> str | None:
    """The words by which a text is seen to call one of the tools; None if it calls none.

    `plain` is the text without code. JSON counts where the text ends with it: alone, in a fence,
    or unfenced behind some words.
    """
    offered = frozenset(tool.name for tool in tools)
    if _as_json(text.strip(), offered):
        return "a call as JSON"
    if any(_calls_one(found["body"], offered) for found in _CODE.finditer(text)):
        return "```tool_code"
    if any(found["name"].strip(" *_`") in offered for found in _REACT.finditer(plain)):
        return "Action Input:"
    return _as_python(plain.strip(), offered) or _as_element(plain, tools)


def _as_json(body: str, offered: Collection[str]) -> bool:
    if not body.rstrip("` \n").endswith(("}", "]")):
        return False
    for found in _JSON.finditer(body):
        shown = bool(found["fence"]) and found.start() > 0
        if found["name"] in offered and not shown:
            return True
    return False


def _calls_one(body: str, offered: Collection[str]) -> bool:
    return any(name and f"{name}(" in body for name in offered)


def _as_python(body: str, offered: Collection[str]) -> str | None:
    if not body.endswith(")]"):
        return None
    return next((m[0] for m in _PYTHON.finditer(body) if m["name"] in offered), None)


def _as_element(plain: str, tools: Sequence[Tool]) -> str | None:
    """An element that bears the name of a tool, holds one of its parameters, and is closed."""
    definitions = {tool.name: tool.definition for tool in tools}
    closed: dict[str, int] = {}
    for found in _ELEMENT.finditer(plain):
        name = found["name"]
        if f'"{found["of"]}":' not in definitions.get(name, ""):
            continue
        if name not in closed:
            closed[name] = plain.rfind(f"</{name}>")
        if closed[name] > found.start():
            return f"<{name}>"
    return None
