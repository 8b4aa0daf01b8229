"""Small pieces that every text view is built from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from proxyaudit.report.safe import safe, safe_line

SEVERITY_STYLE = {"error": "bold red", "warn": "bold yellow", "info": "cyan"}
_NOUNS = {"error": "error", "warn": "warning", "info": "note"}


@dataclass(frozen=True, slots=True)
class Barred:
    """A text set off by a bar at its left, so that nothing in it can pass for our own words."""

    text: Text
    indent: int = 4

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Text(" " * self.indent + "│ ", "dim")
        room = max(20, options.max_width - len(bar))
        for line in self.text.wrap(console, room, tab_size=4):
            line.rstrip()
            yield bar + line


def heading(words: str) -> Text:
    return Text(f"\n{words}", "bold")


def indented(renderable: RenderableType, by: int = 2) -> Padding:
    return Padding(renderable, (0, 0, 0, by), expand=False)


def grid(rows: Iterable[Sequence[Text | str]], *, gap: int = 2, right: Sequence[int] = ()) -> Table:
    """Columns as wide as they need; the last one takes the rest and folds. `right`: columns of
    numbers."""
    table = Table.grid(padding=(0, gap, 0, 0))
    lines = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    for column in range(max((len(line) for line in lines), default=0)):
        last = all(column == len(line) - 1 for line in lines)
        justify = "right" if column in right else "left"
        table.add_column(justify=justify, no_wrap=not last, overflow="fold")  # type: ignore[arg-type]
    for line in lines:
        table.add_row(*line)
    return table


def quotation(text: str, limit: int = 800, lines: int = 12) -> Text:
    """Text from traffic, harmless, cut in its middle."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {count(len(text) - limit, 'character')} …\n{text[-half:]}"
    shown = safe(text).split("\n")
    if len(shown) > lines:
        half = lines // 2
        left_out = len(shown) - 2 * half
        shown = [*shown[:half], f"… {count(left_out, 'line')} …", *shown[-half:]]
    return Text("\n".join(shown))


def count(number: int, noun: str) -> str:
    """1 turn, 2 turns, 1,200 turns."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def tally(numbers: dict[str, int]) -> str:
    """2 errors, 1 warning, 3 notes; empty if there are none."""
    return ", ".join(count(numbers[s], _NOUNS[s]) for s in _NOUNS if numbers.get(s))


def ranges(numbers: Iterable[int]) -> str:
    """3, 5–9: runs of numbers in short."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]}–{r[-1]}" if len(r) > 1 else str(r[0]) for r in runs)


def listed(items: Sequence[str], limit: int) -> str:
    """a, b, c and 4 more."""
    shown = ", ".join(safe_line(item, 80) for item in items[:limit])
    rest = len(items) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown
