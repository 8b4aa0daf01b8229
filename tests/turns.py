"""Turns for tests, built from messages; no bytes needed."""

from collections.abc import Sequence
from itertools import count

from proxyaudit.core.exchange import Exchange, Headers, Request, Response, Tap
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Prompt, Reply, Tool, Turn, Usage

_NUMBERS = count(1)
EPOCH = 1_790_000_000.0


def placed(messages: Sequence[Message], root: str = "/messages") -> tuple[Message, ...]:
    """The messages with the pointers a dialect would give them."""
    return tuple(
        Message(m.role, m.parts, f"{root}/{n}", m.raw_role, m.wire) for n, m in enumerate(messages)
    )


def turn(
    *messages: Message,
    reply: Message | None = None,
    id: str | None = None,  # noqa: A002 - the word that the product uses
    at: float | None = None,
    tap: Tap = "client",
    headers: Headers = (),
    tools: Sequence[str] = (),
    status: int = 200,
    finish: str | None = "stop",
    error: str | None = None,
    prompt_tokens: int | None = None,
) -> Turn:
    """A turn of chat completions. Each starts a second after the one built before it."""
    number = next(_NUMBERS)
    request = Request("POST", "http://model.test/v1/chat/completions", headers)
    exchange = Exchange(
        id or f"e{number}",
        tap,
        EPOCH + (number if at is None else at),
        request,
        Response(status, ended_at=0.5),
    )
    said = Message(reply.role, reply.parts, "/choices/0/message", reply.role) if reply else None
    usage = None if prompt_tokens is None else Usage(prompt=prompt_tokens)
    offered = tuple(Tool(name, "{}", f"/tools/{n}") for n, name in enumerate(tools))
    return Turn(
        exchange,
        "openai-chat",
        Prompt(placed(messages), offered, model="m"),
        Reply(said, finish if said else None, finish, usage=usage, model="m", error=error),
    )
