"""What a script is: a pure function from a request to a reply, and words to read requests with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

type Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a script makes; `arguments` is an object of JSON values."""

    name: str
    arguments: Body = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What a script answers. With calls the finish reason is tool_calls, else stop."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()

    @property
    def finish(self) -> str:
        return "tool_calls" if self.calls else "stop"


type Script = Callable[[Body], ScriptedReply]


def objects(value: object) -> list[Body]:
    """The objects in a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def messages(body: Body) -> list[Body]:
    """The messages of a chat request, those that are objects."""
    return objects(body.get("messages"))


def text_of(message: Body) -> str:
    """The text of a message: a string, or its text parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects(content))


def texts(body: Body, *roles: str) -> list[str]:
    """The texts of the messages with one of these roles, in order."""
    return [text_of(m) for m in messages(body) if m.get("role") in roles]


def calls_of(message: Body) -> Iterator[tuple[str, str]]:
    """Name and raw arguments of each tool call of a message."""
    for call in objects(message.get("tool_calls")):
        function = function_of(call)
        yield str(function.get("name", "")), str(function.get("arguments", ""))


def function_of(value: Body) -> Body:
    """The function object of a tool call or of a tool on offer; empty where there is none."""
    function = value.get("function")
    return function if isinstance(function, dict) else {}


def tools(body: Body) -> dict[str, Body]:
    """The offered tools: name and parameter schema."""
    offered: dict[str, Body] = {}
    for function in map(function_of, objects(body.get("tools"))):
        if isinstance(name := function.get("name"), str):
            schema = function.get("parameters")
            offered[name] = schema if isinstance(schema, dict) else {}
    return offered


def last_user_text(body: Body) -> str | None:
    """What the user said last, or None if the request holds no word of a user."""
    said = texts(body, "user")
    return said[-1] if said else None


def results_since_user(body: Body) -> list[str]:
    """The tool results after the last user message: how far the tool loop has come."""
    results: list[str] = []
    for message in messages(body):
        if message.get("role") == "user":
            results = []
        elif message.get("role") == "tool":
            results.append(text_of(message))
    return results


def user_turns(body: Body) -> int:
    """The number of user turns; user messages in a row count as one."""
    roles = ["", *(str(m.get("role")) for m in messages(body))]
    return sum(now == "user" != before for before, now in pairwise(roles))
