"""The lines of a recording as JSON (`docs/recording-format.md`), as they are read."""

import base64
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from proxyaudit.core.exchange import (
    Chunk,
    End,
    Headers,
    Request,
    Response,
    Tap,
    WebSocketMessage,
)
from proxyaudit.core.json import JSON
from proxyaudit.core.recording import Assume, Flaw

RECORDING = "proxyaudit.recording/1"
EXCHANGE = "proxyaudit.exchange/1"


class _Part(BaseModel):
    """Unknown keys are ignored, so that later versions and other programs may add some."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Message(_Part):
    http_version: str = "HTTP/1.1"
    headers: list[tuple[str, str]] = []
    headers_base64: list[tuple[str, str]] | None = None
    body: str | None = None
    body_base64: str | None = None
    chunks: list[tuple[float, int]] = []

    def raw_body(self) -> bytes:
        if self.body_base64 is not None:
            return _unbase64(self.body_base64)
        return (self.body or "").encode()

    def exact_headers(self) -> Headers:
        if self.headers_base64 is None:
            return tuple(self.headers)
        return tuple((_from_base64(n), _from_base64(v)) for n, v in self.headers_base64)

    def times(self) -> tuple[Chunk, ...]:
        return tuple(Chunk(at, size) for at, size in self.chunks)


class RequestPart(_Message):
    """`request` of a line."""

    method: str
    url: str
    url_base64: str | None = None

    def value(self) -> Request:
        url = self.url if self.url_base64 is None else _from_base64(self.url_base64)
        return Request(
            method=self.method,
            url=url,
            headers=self.exact_headers(),
            body=self.raw_body(),
            http_version=self.http_version,
            chunks=self.times(),
        )


class ResponsePart(_Message):
    """`response` of a line."""

    status: int
    ended_at: float | None = None

    def value(self) -> Response:
        return Response(
            status=self.status,
            headers=self.exact_headers(),
            body=self.raw_body(),
            http_version=self.http_version,
            chunks=self.times(),
            ended_at=self.ended_at,
        )


class WebSocketPart(_Part):
    """One message of `websocket`."""

    at: float
    sender: Literal["client", "server"] = Field(alias="from")
    text: str | None = None
    base64: str | None = None

    def value(self) -> WebSocketMessage:
        data = (self.text or "") if self.base64 is None else _unbase64(self.base64)
        return WebSocketMessage(self.at, self.sender, data)


class ExchangeLine(_Part):
    """Any line about an exchange. Without a `phase` it is a whole one."""

    format: str = EXCHANGE
    phase: Literal["request", "response"] | None = None
    id: str
    tap: Tap = "client"
    started_at: float | None = None
    connection: str | None = None
    request: RequestPart | None = None
    response: ResponsePart | None = None
    end: End | None = None
    error: str | None = None
    websocket: list[WebSocketPart] | None = None
    timed: bool | None = None


class OpeningLine(_Part):
    """The optional first line of a plain file."""

    format: str
    assume: Assume = Assume()


class FlawPart(_Part):
    """One of `flaws`."""

    where: str
    message: str

    def value(self) -> Flaw:
        return Flaw(self.where, self.message)


class MetaFile(OpeningLine):
    """`meta.json`; `created` is in seconds since the epoch."""

    created: float | None = None
    about: dict[str, JSON] = {}
    flaws: list[FlawPart] = []


class FormatLine(_Part):
    """The name and version of a line's format; empty where a line does not say."""

    format: str = ""


class HeadLine(_Part):
    """What tells the kind of an exchange line; the rest is not looked at."""

    id: str
    phase: Literal["request", "response"] | None = None


def _from_base64(text: str) -> str:
    return _unbase64(text).decode("utf-8", "surrogateescape")


def _unbase64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError(f"not base64: {error}") from None
