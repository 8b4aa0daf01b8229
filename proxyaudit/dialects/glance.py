"""What an exchange is about, at a glance: for those who look at live traffic.

Reading a turn takes milliseconds of pure Python, and a body of many megabytes stops everything
else for as long as it is parsed. A recorder that did that would be felt by the client. So only the
request is looked at here, only its top level, and only up to a size.
"""

from dataclasses import dataclass, replace

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSONObject
from proxyaudit.dialects.fields import word
from proxyaudit.dialects.read import WEBSOCKET, NotATurn, recognized
from proxyaudit.dialects.websocket import questions
from proxyaudit.wire.content import decoded

_HISTORIES = ("messages", "input", "contents", "prompt")
LIMIT = 4 * 1024 * 1024
TOO_LARGE = NotATurn("a large request, not looked into")


@dataclass(frozen=True, slots=True)
class Glance:
    """A request to a language model: the model's name, and the number of messages as sent."""

    model: str | None
    messages: int


def glance(exchange: Exchange, limit: int = LIMIT) -> Glance | NotATurn:
    """What a request asks for, or why it is no turn; `TOO_LARGE` from `limit` bytes unpacked on."""
    if exchange.websocket is not None:
        return _on_websocket(exchange, limit)
    request = exchange.request
    plain = decoded(request.headers, request.body[:limit], limit=limit).data
    if len(plain) >= limit:
        return TOO_LARGE
    headers = tuple(field for field in request.headers if field[0].lower() != "content-encoding")
    known = recognized(replace(exchange, request=replace(request, headers=headers, body=plain)))
    if isinstance(known, NotATurn):
        return known
    _, body = known
    return Glance(word(body.get("model")), _count(body))


def _on_websocket(exchange: Exchange, limit: int) -> Glance | NotATurn:
    """The model, and all items sent in the questions that fit into `limit` characters."""
    room, frames = limit, []
    for message in exchange.websocket or ():
        room -= len(message.data) if message.sender == "client" else 0
        if room <= 0:
            break
        frames.append(message)
    bodies = list(questions(replace(exchange, websocket=tuple(frames))))
    if bodies:
        return Glance(word(bodies[0].get("model")), sum(map(_count, bodies)))
    return TOO_LARGE if room <= 0 else WEBSOCKET


def _count(body: JSONObject) -> int:
    said = next((body[name] for name in _HISTORIES if name in body), None)
    return len(said) if isinstance(said, list) else int(said is not None)
