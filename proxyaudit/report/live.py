"""What the recorder says while it runs: how to plug it in, a line an exchange, the summary."""

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from proxyaudit.core.exchange import Exchange
from proxyaudit.dialects.glance import glance
from proxyaudit.dialects.read import NotATurn
from proxyaudit.report.parts import count
from proxyaudit.report.safe import safe_line
from proxyaudit.report.units import clock

ENDS = {
    "client_abort": "client gone",
    "upstream_reset": "upstream reset",
    "upstream_eof": "upstream cut",
    "upstream_refused": "upstream refused",
    "timeout": "timed out",
    "recorder_stopped": "recorder stopped",
    "error": "error",
}


def exchange_line(exchange: Exchange) -> str:
    """One line for an exchange: when, where, what, and how it ended."""
    at = clock(exchange.started_at, None)
    words = [exchange.request.method, _path(exchange), *_said(exchange)]
    # Piece by piece, so that none can push the end of the line out of sight.
    return "  ".join((at, f"{exchange.tap:8}", *(safe_line(word, 120) for word in words)))


def _path(exchange: Exchange) -> str:
    """The path, without its query: a key may stand there."""
    return safe_line(urlsplit(exchange.request.url).path or "/", 60)


def _said(exchange: Exchange) -> list[str]:
    seen = glance(exchange)
    words = []
    if isinstance(seen, NotATurn):
        words.append(f"({seen.reason})")
    else:
        model = safe_line(seen.model or "no model", 40)
        words.append(f"{model} · {count(seen.messages, 'message')}")
    response = exchange.response
    if response is None:
        words.append("→ no answer")
    else:
        first = response.chunks[0].at if response.chunks else response.ended_at
        words.append(f"→ {response.status}")
        words.append(f"{count(len(response.chunks), 'chunk')}, first {_seconds(first)}")
        words.append(f"in {_seconds(response.ended_at)}")
    if exchange.end != "complete":
        detail = f": {exchange.error}" if exchange.error else ""
        words.append(f"✗ {ENDS.get(exchange.end, exchange.end)}{detail}")
    return words


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} s"


def opencode_snippet(base_url: str, model: str = "NAME") -> str:
    """The provider to put into opencode.json."""
    provider = {
        "provider": {
            "recorded": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{base_url}/v1", "apiKey": "{env:OPENAI_API_KEY}"},
                "models": {model: {"tool_call": True, "reasoning": True}},
            }
        },
        "model": f"recorded/{model}",
    }
    return json.dumps(provider, indent=2)


def plug_in(client: str, upstream: str | None, setup_upstream: str, backend: str | None) -> str:
    """What to change in the harness and, with two taps, in the proxy."""
    lines = [
        f"client tap    {client}  →  {setup_upstream}",
        *([f"upstream tap  {upstream}  →  {backend}"] if upstream else []),
        "",
        "Point the agent at the client tap. opencode.json (NAME is the model's name as your "
        "server knows it):",
        "",
        *(f"    {line}" for line in opencode_snippet(client).splitlines()),
        "",
        "Others, by environment:",
        "",
        f"    export OPENAI_BASE_URL={client}/v1",
        f"    export ANTHROPIC_BASE_URL={client}",
    ]
    if upstream:
        lines += [
            "",
            "Point the proxy at the upstream tap instead of its backend:",
            "",
            f"    {backend}  becomes  {upstream}",
        ]
    return "\n".join(lines)


def empty_reasons(two_taps: bool, client: int, upstream: int, client_url: str) -> Sequence[str]:
    """Why nothing, or nothing at one tap, was recorded: the likely reasons, most likely first."""
    if client == 0 and upstream == 0:
        return (
            f"the agent was not pointed at {client_url}: look at its base URL setting",
            "the agent read its configuration before you changed it: start it anew",
            "the agent goes through a proxy of its own (HTTP_PROXY), or runs on another machine "
            "or in a container, where 127.0.0.1 is not this machine",
        )
    if two_taps and upstream == 0:
        return (
            "the proxy still sends its requests to the backend itself, not to the upstream tap",
            "the proxy answered from a cache, or refused everything",
        )
    if client == 0:
        return ("the agent talks to the proxy itself, not to the client tap",)
    return ()
