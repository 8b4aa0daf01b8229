"""One exchange as text: request, prompt, reply."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.exchange import Exchange, Headers
from proxyaudit.core.turn import Prompt, Reply, Turn, Usage
from proxyaudit.report.message_text import message_rows
from proxyaudit.report.overview import first_byte, total_time
from proxyaudit.report.parts import count, grid, heading, indented, listed
from proxyaudit.report.safe import safe_line
from proxyaudit.report.units import moment, number, seconds, size

_HEADER = 100
_WHOLE = 1_000_000


@dataclass(frozen=True, slots=True)
class OneExchange:
    """An exchange, read if it could be (`unread` says why not), and where it belongs."""

    exchange: Exchange
    turn: Turn | None = None
    unread: str = ""
    number: int | None = None
    conversation: str | None = None
    twins: tuple[str, ...] = ()


def exchange_text(one: OneExchange, *, verbose: bool = False) -> RenderableType:
    """The exchange for people; `verbose` cuts nothing."""
    exchange = one.exchange
    parts: list[RenderableType] = [_title(one), indented(grid(_facts(one)))]
    if one.turn is not None:
        parts += _prompt(one.turn.prompt, verbose)
        parts += _reply(one.turn, verbose)
    else:
        parts += [Text(""), indented(Text(safe_line(one.unread), "yellow"))]
    parts += _headers("Request headers", exchange.request.headers, verbose)
    if exchange.response:
        parts += _headers("Response headers", exchange.response.headers, verbose)
    return Group(*parts)


def _title(one: OneExchange) -> Text:
    out = Text(f"exchange {safe_line(one.exchange.id)}", "bold")
    about = [f"{one.exchange.tap} tap"]
    if one.conversation:
        where = f"turn {one.number} of " if one.number else ""
        about.insert(0, f"{where}conversation {safe_line(one.conversation)}")
    if one.turn:
        about.append(one.turn.dialect)
    return out.append(f"  {' · '.join(about)}", "dim not bold")


def _facts(one: OneExchange) -> Iterator[tuple[Text, str]]:
    exchange, response = one.exchange, one.exchange.response
    request = exchange.request
    yield _fact("request", safe_line(f"{request.method} {request.url}"))
    yield _fact("sent", f"{moment(exchange.started_at)} · {size(len(request.body))}")
    ending = exchange.end.replace("_", " ")
    if exchange.error:
        ending += f": {safe_line(exchange.error, 200)}"
    if response is None:
        yield _fact("response", f"none · {ending}")
    else:
        pieces = [str(response.status), ending, size(len(response.body))]
        if exchange.timed:
            pieces.append(count(len(response.chunks), "chunk"))
        yield _fact("response", " · ".join(pieces))
        times = (("first byte", first_byte(exchange)), ("all", total_time(exchange)))
        known = [f"{name} after {seconds(at)}" for name, at in times if at is not None]
        yield _fact("time", " · ".join(known) or "not recorded")
    if one.twins:
        yield _fact("other tap", listed(one.twins, 5))


def _fact(label: str, value: str) -> tuple[Text, str]:
    return Text(label, "dim"), value


def _prompt(prompt: Prompt, verbose: bool) -> Iterator[RenderableType]:
    yield heading("Prompt")
    about = [safe_line(prompt.model or "no model named", 60)]
    about.append("stream" if prompt.stream else "no stream")
    about += (
        f"{safe_line(key, 40)}={safe_line(json.dumps(value, ensure_ascii=False), 60)}"
        for key, value in prompt.settings.items()
    )
    yield indented(Text(" · ".join(about)))
    if prompt.tools:
        names = [tool.name for tool in prompt.tools]
        shown = listed(names, len(names) if verbose else 12)
        yield indented(Text(f"{count(len(names), 'tool')}: {shown}"))
    limit = _WHOLE if verbose else 160
    rows = [row for n, m in enumerate(prompt.messages) for row in message_rows(n, m, limit)]
    yield indented(grid(rows, right=(0,)))


def _reply(turn: Turn, verbose: bool) -> Iterator[RenderableType]:
    yield heading("Reply")
    reply = turn.reply
    if reply is None:
        yield indented(Text("none that could be read", "yellow"))
        return
    yield indented(Text(" · ".join(_about(reply))))
    if reply.error:
        yield indented(Text(f"error: {safe_line(reply.error, 400)}", "red"))
    limit = _WHOLE if verbose else 400
    said = [*([reply.message] if reply.message else []), *reply.more]
    rows = [row for n, m in enumerate(said) for row in message_rows(n or "", m, limit)]
    if rows:
        yield indented(grid(rows))
    if reply.stream and reply.stream.faults:
        faults = [f"event {f.event}: {f.kind} {f.detail}" for f in reply.stream.faults]
        yield indented(Text(f"stream faults: {listed(faults, 3)}", "yellow"))


def _about(reply: Reply) -> Iterator[str]:
    if reply.model:
        yield safe_line(reply.model, 60)
    yield f"finish {safe_line(reply.finish_raw or 'not given', 40)}"
    if reply.stream:
        yield count(len(reply.stream.events), "event")
    yield from _tokens(reply.usage)


def _tokens(usage: Usage | None) -> Iterator[str]:
    if usage is None:
        yield "no usage"
        return
    counts: Sequence[tuple[str, int | None]] = (
        ("prompt", usage.prompt),
        ("cached", usage.cached),
        ("completion", usage.completion),
        ("reasoning", usage.reasoning),
    )
    told = [f"{name} {number(value)}" for name, value in counts if value is not None]
    yield f"tokens: {', '.join(told)}" if told else "usage without counts"


def _headers(title: str, headers: Headers, verbose: bool) -> Iterator[RenderableType]:
    if not headers:
        return
    yield heading(title)
    limit = None if verbose else _HEADER
    yield indented(
        grid((Text(safe_line(name, 60), "dim"), safe_line(value, limit)) for name, value in headers)
    )
