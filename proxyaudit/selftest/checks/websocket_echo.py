"""Websockets pass."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxyaudit.selftest.base import Fail, Outcome, check
from proxyaudit.selftest.compare import line_differences, rounds
from proxyaudit.selftest.script import Echo, Pair, Script, get
from proxyaudit.selftest.talk import KEY

MESSAGES = ("hello", '{"type":"response.create"}', b"\x00\xff\x01", "é🙂漢", "x" * 70000, "")
_LINES = (
    b"Connection: Upgrade",
    b"Upgrade: websocket",
    b"Sec-WebSocket-Version: 13",
    b"Sec-WebSocket-Key: " + KEY,
    b"Authorization: Bearer selftest",
)


def _scripts() -> tuple[Script, ...]:
    return (Script((replace(get((Echo(),), *_LINES), messages=MESSAGES),)),)


@check("websocket.echo", proves="websocket messages pass in both directions", scripts=_scripts)
def judge(pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """The handshake's headers, and every message, text and binary, one at a time there and back."""
    for direct, through in rounds(pairs):
        answer, request = through.response, through.request
        if answer is None or request is None or answer.status != 101:
            yield Fail("the upgrade to a websocket was not passed on")
            continue
        if direct.request and direct.response:
            before = [line for line in direct.request.lines if not line.startswith(b"Host:")]
            after = [line for line in request.lines if not line.startswith(b"Host:")]
            for difference in (
                *line_differences(before, after),
                *line_differences(direct.response.lines, answer.lines, added=False),
            ):
                yield Fail(f"handshake: {difference}")
        if direct.heard != through.heard:
            yield Fail(_told("the upstream", len(through.heard), len(direct.heard)))
        if direct.echoed != through.echoed:
            yield Fail(_told("the client", len(through.echoed), len(direct.echoed)))


def _told(who: str, got: int, sent: int) -> str:
    if got == sent:
        return f"{who} got other messages than were sent"
    return f"{who} got {got} messages of {sent}"
