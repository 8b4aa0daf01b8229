"""The quiet status of a recorder: a row for each conversation, the latest ones first."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.engine.watch import Alert, Seen
from proxyaudit.report.live import ENDS
from proxyaudit.report.parts import count, grid
from proxyaudit.report.safe import safe_line
from proxyaudit.report.spark import spark
from proxyaudit.report.units import seconds

_ROWS = 8
_BARS = 24
_KEPT = 64


@dataclass(slots=True)
class Row:
    """A conversation so far. `context` holds the prompt tokens of its newest turns, where told."""

    id: str
    model: str = ""
    turns: int = 0
    context: deque[int | None] = field(default_factory=lambda: deque(maxlen=_BARS))
    completion: int = 0
    first_byte: float | None = None
    last: str = ""
    alarms: int = 0


class Status:
    """What is shown. Fed by one thread; it holds the conversations of late, and no texts."""

    def __init__(self) -> None:
        self.rows: OrderedDict[str, Row] = OrderedDict()
        self.exchanges: Counter[str] = Counter()
        self.alarms: Counter[str] = Counter()
        self.others = 0
        self.behind = 0
        self.lost = 0

    def ended(self, exchange: Exchange, turns: Iterable[Seen]) -> None:
        """An exchange has ended, with the turns in it."""
        self.exchanges[exchange.tap] += 1
        for turn, conversation, number in turns:
            if conversation is not None and number is not None:
                self._turn(self._row(conversation), turn, number)

    def alarm(self, alert: Alert) -> None:
        """A finding was told for the first time."""
        self.alarms[alert.finding.severity] += 1
        if alert.conversation is not None:
            self._row(alert.conversation).alarms += 1

    def _row(self, conversation: str) -> Row:
        row = self.rows.setdefault(conversation, Row(conversation))
        self.rows.move_to_end(conversation)
        while len(self.rows) > _KEPT:
            self.rows.popitem(last=False)
        return row

    def _turn(self, row: Row, turn: Turn, number: int) -> None:
        usage = (turn.reply.usage if turn.reply else None) or Usage()
        row.model = turn.prompt.model or row.model
        row.turns = max(row.turns, number)
        row.context.append(usage.prompt)
        row.completion += usage.completion or 0
        row.first_byte = first_byte(turn.exchange)
        row.last = outcome(turn.exchange)


def first_byte(exchange: Exchange) -> float | None:
    """Seconds to the first byte of the reply's body, or to its end where it had none."""
    response = exchange.response
    if response is None:
        return None
    return response.chunks[0].at if response.chunks else response.ended_at


def outcome(exchange: Exchange) -> str:
    """200, or how it broke off."""
    if exchange.end != "complete":
        return ENDS.get(exchange.end, exchange.end)
    return str(exchange.response.status) if exchange.response else "no answer"


def status_view(status: Status, rows: int = _ROWS) -> RenderableType:
    """The status in a few lines: the newest conversations, and one line about all."""
    newest = list(status.rows.values())[::-1]
    shown = newest[:rows]
    lines: list[RenderableType] = []
    if shown:
        lines.append(grid((_cells(row) for row in reversed(shown)), right=(2,)))
    if len(newest) > rows:
        lines.append(Text(f"and {count(len(newest) - rows, 'earlier conversation')}", "dim"))
    lines.append(_summary(status))
    return Group(*lines)


def _cells(row: Row) -> tuple[Text | str, ...]:
    known = [tokens for tokens in row.context if tokens is not None]
    said = [f"{known[-1]:,} tokens" if known else "tokens not told"]
    if row.completion:
        said.append(f"{row.completion:,} written")
    if row.first_byte is not None:
        said.append(f"first byte {seconds(row.first_byte)}")
    alarms = Text(count(row.alarms, "alarm"), "bold red") if row.alarms else Text("")
    good = row.last.startswith("2") or not row.last
    return (
        Text(safe_line(row.id, 12), "bold"),
        safe_line(row.model, 24),
        count(row.turns, "turn"),
        spark(list(row.context), _BARS) if known else "",
        Text(row.last, "" if good else "bold yellow"),
        Text.assemble((" · ".join(said), "dim"), "  ", alarms),
    )


def _summary(status: Status) -> Text:
    total = sum(status.exchanges.values())
    out = Text.assemble((f"recording · {count(total, 'exchange')}", "dim"))
    for severity, style in (("error", "bold red"), ("warn", "bold yellow")):
        if number := status.alarms[severity]:
            noun = "error" if severity == "error" else "warning"
            out.append(f" · {count(number, noun)}", style)
    if status.lost:
        out.append(f" · {count(status.lost, 'line')} not written", "bold red")
    if status.behind:
        out.append(f" · {count(status.behind, 'exchange')} not watched", "yellow")
    return out
