"""Import of mitmproxy flow files. mitmproxy is imported late: that takes over a second."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from proxyaudit.core.exchange import (
    End,
    Exchange,
    Headers,
    Request,
    Response,
    Tap,
    WebSocketMessage,
)
from proxyaudit.core.recording import Flaw
from proxyaudit.store.endings import end_of_error

if TYPE_CHECKING:
    from mitmproxy.flow import Flow
    from mitmproxy.http import Headers as FlowHeaders
    from mitmproxy.http import HTTPFlow
    from mitmproxy.websocket import WebSocketData

_NO_CLOSE_FRAME = 1006
_NO_BODY = "the flow file holds no body of this {}: it was streamed and not kept"


def read_flows(path: Path, tap: Tap = "client") -> tuple[tuple[Exchange, ...], tuple[Flaw, ...]]:
    """All exchanges of a flow file, in its order, and what could not be read."""
    flaws: list[Flaw] = []
    return tuple(iter_flows(path, flaws, tap)), tuple(flaws)


def iter_flows(path: Path, flaws: list[Flaw], tap: Tap = "client") -> Iterator[Exchange]:
    """The exchanges of a flow file one by one; what cannot be read is added to `flaws`.

    A flow file has no chunk times (`timed` is False) and, of a reply that broke off, no body.
    """
    from mitmproxy.http import HTTPFlow

    others = 0
    with path.open("rb") as file:
        for where, flow in _flows(file, path.name, flaws):
            if not isinstance(flow, HTTPFlow):
                others += 1
                continue
            exchange = to_exchange(flow, tap)
            for kept, side in ((flow.request, "request"), (flow.response, "response")):
                if kept is not None and kept.raw_content is None and flow.error is None:
                    flaws.append(Flaw(where, _NO_BODY.format(side)))
            yield exchange
    if others:
        flaws.append(Flaw(path.name, f"{others} flows are not HTTP and were left out"))


def _flows(file: BinaryIO, name: str, flaws: list[Flaw]) -> Iterator[tuple[str, "Flow"]]:
    from mitmproxy.io import FlowReader

    stream, number = iter(FlowReader(file).stream()), 0
    while True:
        number += 1
        where = f"{name}:flow {number}"
        try:
            flow = next(stream, None)
        except Exception as error:  # damaged data makes the reader fail in any way there is
            flaws.append(Flaw(where, f"torn or damaged, and what follows is lost: {error}"))
            return
        if flow is None:
            return
        yield where, flow


def to_exchange(flow: "HTTPFlow", tap: Tap = "client") -> Exchange:
    """A flow as an exchange, without chunk times; the body is as it was on the wire."""
    end, error = _ending(flow)
    return Exchange(
        id=flow.id,
        tap=tap,
        started_at=flow.request.timestamp_start,
        request=Request(
            method=flow.request.method,
            url=flow.request.url,
            headers=decoded(flow.request.headers),
            body=flow.request.raw_content or b"",
            http_version=flow.request.http_version,
        ),
        response=_response(flow),
        end=end,
        error=error,
        connection=flow.client_conn.id,
        websocket=_messages(flow),
        timed=False,
    )


def decoded(headers: "FlowHeaders") -> Headers:
    """Header fields as text: UTF-8, with surrogate escapes where they are not."""
    return tuple((_text(name), _text(value)) for name, value in headers.fields)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _response(flow: "HTTPFlow") -> Response | None:
    answer = flow.response
    if answer is None:
        return None
    ended = answer.timestamp_end or (flow.error.timestamp if flow.error else None)
    return Response(
        status=answer.status_code,
        headers=decoded(answer.headers),
        body=answer.raw_content or b"",
        http_version=answer.http_version,
        ended_at=None if ended is None else max(0.0, ended - flow.request.timestamp_start),
    )


def _messages(flow: "HTTPFlow") -> tuple[WebSocketMessage, ...] | None:
    if flow.websocket is None:
        return None
    start = flow.request.timestamp_start
    return tuple(
        WebSocketMessage(
            at=message.timestamp - start,
            sender="client" if message.from_client else "server",
            data=_payload(message.content, message.is_text),
        )
        for message in flow.websocket.messages
    )


def _payload(content: bytes, is_text: bool) -> str | bytes:
    try:
        return content.decode() if is_text else content
    except UnicodeDecodeError:
        return content


def _ending(flow: "HTTPFlow") -> tuple[End, str | None]:
    if flow.error is not None:
        return end_of_error(flow.error.msg), flow.error.msg
    if flow.response is None:
        return "recorder_stopped", None
    if flow.response.raw_content is None:
        # Nothing may be concluded from a body that mitmproxy did not keep.
        return "recorder_stopped", _NO_BODY.format("response")
    return ("complete" if flow.websocket is None else end_of_websocket(flow.websocket)), None


def end_of_websocket(websocket: "WebSocketData") -> End:
    """A client may leave at any time; a server that goes without a close frame broke off."""
    if websocket.closed_by_client is None:
        return "recorder_stopped"
    abnormal = websocket.close_code in {None, _NO_CLOSE_FRAME}
    return "upstream_eof" if abnormal and not websocket.closed_by_client else "complete"
