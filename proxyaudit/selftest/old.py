"""Answers for HTTP/1.0, as any server gives them: no chunks, no interim answers, the end closes.

A proxy that asks in HTTP/1.0 can not tell a cut from an end: that is to be seen here, too.
"""

from proxyaudit.selftest.message import Reader

_NOT_KNOWN = (b"transfer-encoding", b"trailer")


class Downgrade:
    """Turns an answer, write by write, into one that HTTP/1.0 knows."""

    def __init__(self, *, bodiless: bool) -> None:
        self._reader = Reader(is_response=True, bodiless=bodiless)

    def feed(self, data: bytes) -> bytes:
        """What to send in the place of these bytes; perhaps nothing."""
        headed, before = self._reader.head_done, self._reader.received
        self._reader.feed(data)
        message = self._reader.message()
        if message is None:
            return b""
        body = message.body[before:]
        if headed:
            return body
        lines = [
            line for line in message.lines if line.partition(b":")[0].lower() not in _NOT_KNOWN
        ]
        return b"\r\n".join((message.first, *lines)) + b"\r\n\r\n" + body
