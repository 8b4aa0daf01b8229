"""The overview of a recording as text."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.report.overview import ConversationLines, OtherLine, Overview, TurnLine
from proxyaudit.report.parts import count, grid, heading, indented
from proxyaudit.report.safe import safe_line
from proxyaudit.report.units import clock, moment, number, seconds, short_length

_HEADS = ("turn", "time", "exchange", "msgs", "new", "in", "out", "finish", "status", "ttfb")
_RIGHT = (0, 3, 4, 5, 6, 8, 9)


def overview_text(view: Overview) -> RenderableType:
    """Conversations with a line for each exchange, then what belongs to none."""
    parts: list[RenderableType] = [_title(view)]
    ids = [line.exchange for c in view.conversations for line in c.lines]
    length = short_length([*ids, *(line.exchange for line in view.others)])
    for conversation in view.conversations:
        parts += conversation_text(conversation, length)
    if view.others:
        parts.append(heading("Exchanges of no conversation"))
        parts.append(indented(grid([_other(line, length) for line in view.others])))
    if view.flaws:
        parts.append(heading("Flaws"))
        parts += (indented(Text(safe_line(flaw, 400), "yellow")) for flaw in view.flaws)
    return Group(*parts)


def conversation_text(view: ConversationLines, length: int) -> Iterator[RenderableType]:
    """One conversation as a table; `length` is how much of an id to show."""
    yield Text("")
    yield conversation_title(view)
    models = {line.model for line in view.lines}
    several = len(models) > 1
    cached = any(line.cached_tokens is not None for line in view.lines)
    more = (*(["cached"] if cached else []), *(["model"] if several else []), "")
    rows: list[tuple[Text | str, ...]] = [tuple(Text(head, "dim") for head in (*_HEADS, *more))]
    rows += (_row(line, length, cached, several) for line in view.lines)
    yield indented(grid(rows, right=(*_RIGHT, len(_HEADS)) if cached else _RIGHT))


def conversation_title(view: ConversationLines) -> Text:
    out = Text(f"{view.kind} {safe_line(view.id, 60)}", "bold")
    about = [count(sum(line.turn is not None for line in view.lines), "turn")]
    models = {line.model for line in view.lines}
    if len(models) == 1:
        about.append(safe_line(next(iter(models)) or "no model named", 40))
    if view.purpose:
        about.append(safe_line(view.purpose, 60))
    if view.parent:
        about.append(f"of {safe_line(view.parent, 60)}")
    if view.session:
        about.append(f"session {safe_line(view.session, 60)}")
    return out.append(f"  {' · '.join(about)}", "dim not bold")


def _title(view: Overview) -> Text:
    out = Text(safe_line(view.recording), "bold")
    taps = ", ".join(f"{n:,} at the {tap} tap" for tap, n in view.taps.items())
    pieces = [f"{count(sum(view.taps.values()), 'exchange')} ({taps})"]
    if view.started_at is not None and view.ended_at is not None:
        pieces.append(f"{moment(view.started_at)}, {seconds(view.ended_at - view.started_at)}")
    return out.append(f"  {' · '.join(pieces)}", "dim not bold")


def _row(
    line: TurnLine, length: int, with_cached: bool, with_model: bool
) -> tuple[Text | str, ...]:
    bad = line.status is None or not 200 <= line.status < 300
    return (
        str(line.turn) if line.turn else "–",
        clock(line.started_at),
        safe_line(line.exchange[:length]),
        number(line.messages),
        _new(line.new),
        number(line.prompt_tokens),
        number(line.completion_tokens),
        safe_line(line.finish or "", 14),
        Text(str(line.status or "none"), "red" if bad else ""),
        seconds(line.first_byte),
        *([number(line.cached_tokens)] if with_cached else []),
        *([safe_line(line.model or "", 16)] if with_model else []),
        Text(", ".join(line.marks), "yellow"),
    )


def _new(new: int | None) -> Text:
    if new is None:
        return Text("")
    return Text(f"{new:+}", "red" if new < 0 else "")


def _other(line: OtherLine, length: int) -> tuple[Text | str, ...]:
    return (
        safe_line(line.exchange[:length]),
        line.tap,
        safe_line(line.request, 60),
        str(line.status or "none"),
        Text(safe_line(line.reason, 120), "dim"),
    )
