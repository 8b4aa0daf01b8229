"""The Responses format over a websocket: one exchange, several turns.

A frame `response.create` of the client has the fields of a request body; frames of the server are
the events of a stream, one JSON text each. A frame with `generate: false` only warms up: its empty
reply is lawful and it is no turn, but what it carried belongs to the history of the turns that name
its reply. Replies come one after the other: a frame belongs to the last question before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from proxyaudit.core.exchange import Chunk, End, Exchange, WebSocketMessage
from proxyaudit.core.json import JSONObject
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Reply, StreamEvent, StreamFault, Turn, part_suffix
from proxyaudit.dialects.chained import continued, kept
from proxyaudit.dialects.fields import QUOTE, as_object, first_integer, parse_json
from proxyaudit.dialects.openai_responses import DIALECT as RESPONSES

_ASKS = "response.create"
_FIELDS = ("input", "previous_response_id", "instructions")


@dataclass(slots=True)
class _Part:
    """A question and the frames that came before the next one."""

    asked: WebSocketMessage
    body: JSONObject
    answers: list[WebSocketMessage] = field(default_factory=list)


def read_websocket(exchange: Exchange) -> tuple[Turn, ...]:
    """The turns on a websocket, in order; none where nothing was asked of a model."""
    turns: list[Turn] = []
    warmed: dict[str, tuple[Message, ...]] = {}
    parts = list(_parts(exchange))
    for part in parts:
        reply = _read_reply(part, exchange.timed)
        prompt = RESPONSES.read_prompt(part.body)
        before = warmed.get(prompt.previous_id or "")
        if before is not None:
            prompt = continued(prompt, before)
        if part.body.get("generate") is False:
            if reply and reply.id:
                warmed[reply.id] = kept(prompt, before or ())
            continue
        end = _end(exchange, reply, is_last=part is parts[-1])
        turns.append(
            Turn(_view(exchange, part, end, len(turns)), RESPONSES.name, prompt, reply, len(turns))
        )
    return tuple(turns)


def questions(exchange: Exchange) -> Iterator[JSONObject]:
    """The frames that ask a model for something, as request bodies."""
    for message in exchange.websocket or ():
        if message.sender == "client" and (body := _question(message)) is not None:
            yield body


def _parts(exchange: Exchange) -> Iterator[_Part]:
    part: _Part | None = None
    for message in exchange.websocket or ():
        body = _question(message) if message.sender == "client" else None
        if body is not None:
            if part:
                yield part
            part = _Part(message, body)
        elif part and message.sender == "server":
            part.answers.append(message)
    if part:
        yield part


def _question(message: WebSocketMessage) -> JSONObject | None:
    try:
        body = as_object(parse_json(message.data))
    except ValueError:
        return None
    if body.get("type") != _ASKS or not any(name in body for name in _FIELDS):
        return None
    return {key: value for key, value in body.items() if key != "type"}


def _read_reply(part: _Part, timed: bool) -> Reply | None:
    """The reply that the frames add up to; they have no end sentinel. None if no frame came."""
    if not part.answers:
        return None
    events: list[StreamEvent] = []
    faults: list[StreamFault] = []
    for number, message in enumerate(part.answers):
        text, is_whole = _text(message)
        if not is_whole:
            faults.append(StreamFault("bad_utf8", number, text[:QUOTE]))
        events.append(StreamEvent(number, message.at - part.asked.at if timed else None, "", text))
    reply = RESPONSES.read_stream(events, faults)
    return replace(reply, stream=reply.stream and replace(reply.stream, needs_done=False))


def _text(message: WebSocketMessage) -> tuple[str, bool]:
    """The text of a frame, and whether it was text."""
    if isinstance(message.data, str):
        return message.data, True
    try:
        return message.data.decode(), True
    except UnicodeDecodeError:
        return message.data.decode("utf-8", "replace"), False


def _end(exchange: Exchange, reply: Reply | None, is_last: bool) -> End:
    """How a part ended: by its own last event, else as the websocket did, or by a new question."""
    told = reply is not None and (reply.finish is not None or reply.error is not None)
    if told:
        return "complete"
    return exchange.end if is_last else "client_abort"


def _view(exchange: Exchange, part: _Part, end: End, number: int) -> Exchange:
    """The exchange as if this part were all of it (`core.turn.Turn`)."""
    asked, answers = part.asked, part.answers
    bodies = [_bytes(message) + b"\n" for message in answers]
    times = [message.at - asked.at for message in answers]
    response = None
    if answers and exchange.response is not None:
        response = replace(
            exchange.response,
            status=_status(answers),
            body=b"".join(bodies),
            chunks=tuple(Chunk(at, len(b)) for at, b in zip(times, bodies, strict=True)),
            ended_at=times[-1],
        )
    question = _bytes(asked)
    return replace(
        exchange,
        id=exchange.id + part_suffix(number),
        started_at=exchange.started_at + asked.at,
        request=replace(exchange.request, body=question, chunks=(Chunk(0.0, len(question)),)),
        response=response,
        end=end,
        error=None if end == "complete" else exchange.error,
        websocket=(asked, *answers),
    )


def _bytes(message: WebSocketMessage) -> bytes:
    data = message.data
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


def _status(answers: Sequence[WebSocketMessage]) -> int:
    """The status that an error frame tells; 200 where there is none."""
    for message in reversed(answers):
        try:
            frame = as_object(parse_json(message.data))
        except ValueError:
            continue
        if frame.get("type") == "error":
            return first_integer(frame.get("status"), frame.get("status_code")) or 400
    return 200
