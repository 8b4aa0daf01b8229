"""What happens while a recorder runs, as JSON Lines for other programs."""

import json
import sys
from collections.abc import Sequence
from typing import TextIO

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Usage
from proxyaudit.engine.watch import Alert, Seen
from proxyaudit.report.live_alarm import alarm_json
from proxyaudit.report.live_status import first_byte

EVENT_SCHEMA = "proxyaudit.event/1"


class Events:
    """Writes a line an event to a stream, at once. A reader that goes away ends it quietly.

    `exchange`: one ended. `turn`: it held a request to a model, with its place and its counts.
    `finding`: the auditor's word, `again` where a fault lasts; info findings among them.
    """

    def __init__(self, stream: TextIO, recording: str) -> None:
        self._stream = stream
        self._recording = recording
        self._open = True

    def alerted(self, alert: Alert) -> None:
        self._write("finding", alarm_json(alert, self._recording))

    def ended(self, exchange: Exchange, turns: Sequence[Seen]) -> None:
        response = exchange.response
        self._write(
            "exchange",
            {
                "exchange": exchange.id,
                "tap": exchange.tap,
                "started_at": exchange.started_at,
                "status": response.status if response else None,
                "first_byte": first_byte(exchange),
                "ended_at": response.ended_at if response else None,
                "end": exchange.end,
            },
        )
        for seen in turns:
            self._write("turn", _turn(seen))

    def tick(self) -> None: ...

    def close(self) -> None:
        self._open = False
        if self._stream is not sys.stdout:
            self._stream.close()

    def _write(self, event: str, fields: dict[str, JSON]) -> None:
        if not self._open:
            return
        line = json.dumps({**fields, "schema": EVENT_SCHEMA, "event": event})
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            self._open = False


def _turn(seen: Seen) -> dict[str, JSON]:
    turn = seen.turn
    usage = (turn.reply.usage if turn.reply else None) or Usage()
    return {
        "exchange": turn.id,
        "conversation": seen.conversation,
        "turn": seen.number,
        "model": turn.prompt.model,
        "dialect": turn.dialect,
        "messages": len(turn.prompt.messages),
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
        "status": turn.status,
        "first_byte": first_byte(turn.exchange),
    }
