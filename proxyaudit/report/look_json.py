"""What `list`, `show` and `diff` print with `--format json`; each document names its schema."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.exchange import Exchange, Headers
from proxyaudit.core.message import Message
from proxyaudit.core.turn import Turn
from proxyaudit.report.exchange_text import OneExchange
from proxyaudit.report.json import to_json
from proxyaudit.report.overview import ConversationLines, Overview, first_byte, total_time
from proxyaudit.report.sidebyside import Row, rows


def overview_json(view: Overview) -> str:
    """`proxyaudit.show/1`: a recording."""
    return to_json({"schema": "proxyaudit.show/1", **asdict(view)})


def conversation_json(recording: str, view: ConversationLines) -> str:
    """`proxyaudit.show/1`: one conversation."""
    return to_json(
        {"schema": "proxyaudit.show/1", "recording": recording, "conversations": [asdict(view)]}
    )


def exchange_json(recording: str, one: OneExchange) -> str:
    """`proxyaudit.show/1`: one exchange, with its prompt and reply as read."""
    return to_json(
        {
            "schema": "proxyaudit.show/1",
            "recording": recording,
            "exchange": {
                **_exchange(one.exchange),
                "conversation": one.conversation,
                "turn": one.number,
                "other_tap": list(one.twins),
                "unread": one.unread or None,
                **(_turn(one.turn) if one.turn else {}),
            },
        }
    )


def message_value(message: Message) -> dict[str, Any]:
    """A message as JSON: role, place, and its parts with their kinds."""
    parts = [{"type": _snake(type(part).__name__), **asdict(part)} for part in message.parts]
    return {
        "role": message.role,
        "raw_role": message.raw_role,
        "pointer": message.pointer,
        "parts": parts,
    }


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _exchange(exchange: Exchange) -> dict[str, Any]:
    response = exchange.response
    return {
        "id": exchange.id,
        "tap": exchange.tap,
        "started_at": exchange.started_at,
        "end": exchange.end,
        "error": exchange.error,
        "request": {
            "method": exchange.request.method,
            "url": exchange.request.url,
            "headers": _pairs(exchange.request.headers),
            "bytes": len(exchange.request.body),
        },
        "response": response
        and {
            "status": response.status,
            "headers": _pairs(response.headers),
            "bytes": len(response.body),
            "chunks": len(response.chunks) if exchange.timed else None,
            "first_byte": first_byte(exchange),
            "total": total_time(exchange),
        },
    }


def _pairs(headers: Headers) -> list[list[str]]:
    return [[name, value] for name, value in headers]


def _turn(turn: Turn) -> dict[str, Any]:
    prompt, reply = turn.prompt, turn.reply
    return {
        "dialect": turn.dialect,
        "prompt": {
            "model": prompt.model,
            "stream": prompt.stream,
            "settings": dict(prompt.settings),
            "tools": [
                {"name": t.name, "definition": _parsed(t.definition), "pointer": t.pointer}
                for t in prompt.tools
            ],
            "messages": [message_value(m) for m in prompt.messages],
        },
        "reply": reply
        and {
            "model": reply.model,
            "finish": reply.finish,
            "finish_raw": reply.finish_raw,
            "error": reply.error,
            "usage": asdict(reply.usage) if reply.usage else None,
            "messages": [message_value(m) for m in (reply.message, *reply.more) if m],
            "events": len(reply.stream.events) if reply.stream else None,
        },
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def diff_json(recording: str, comparisons: Sequence[Comparison], numbers: Mapping[str, int]) -> str:
    """`proxyaudit.diff/1`: comparisons, each in rows; equal messages without their parts."""
    return to_json(
        {
            "schema": "proxyaudit.diff/1",
            "recording": recording,
            "comparisons": [comparison_value(found, numbers) for found in comparisons],
        }
    )


def comparison_value(found: Comparison, numbers: Mapping[str, int]) -> dict[str, Any]:
    """A comparison as JSON, in rows."""
    return {
        "relation": found.relation.value,
        "suspect": found.suspect,
        "left": {"exchange": found.left.id, "turn": numbers.get(found.left.id)},
        "right": {"exchange": found.right.id, "turn": numbers.get(found.right.id)},
        "reset": found.reset,
        "compacted": found.compacted,
        "forked": found.forked,
        "changes": len(found.changes),
        "rows": [_row(row, found) for row in rows(found)],
    }


def _row(row: Row, found: Comparison) -> dict[str, Any]:
    def side(index: int | None, messages: Sequence[Message]) -> dict[str, Any] | None:
        if index is None:
            return None
        told = message_value(messages[index]) if row.kind != "equal" else {}
        return {"index": index, **told}

    return {
        "kind": row.kind,
        "left": side(row.left, found.left_messages),
        "right": side(row.right, found.right_messages),
    }
