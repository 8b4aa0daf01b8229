"""The list of recordings, as text and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from proxyaudit.report.json import to_json
from proxyaudit.report.parts import indented
from proxyaudit.report.safe import safe_line
from proxyaudit.report.units import moment, number, size

type Column = list[str]
"""A title and a cell for each recording, all of them padded to the same width."""
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Entry:
    """A recording. `started_at` in seconds since the epoch, `bytes` on disk.

    `exchanges` and `taps` are None where they are not known without a full import; `problem` says
    why a recording cannot be read.
    """

    name: str
    path: str
    started_at: float
    exchanges: int | None
    taps: tuple[str, ...] | None
    bytes: int
    problem: str | None = None


def shelf_json(entries: Sequence[Entry]) -> str:
    """`proxyaudit.list/1`."""
    return to_json(
        {"schema": "proxyaudit.list/1", "recordings": [asdict(entry) for entry in entries]}
    )


def shelf_text(entries: Sequence[Entry], root: str) -> RenderableType:
    """A line for each recording, or how to make the first one."""
    if not entries:
        where = safe_line(root)
        return Group(
            Text(f"No recordings in {where}/."),
            Text("`proxyaudit demo` makes one without any model; `proxyaudit record` a real one."),
        )
    return _Shelf(entries)


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The table in the fullest form that has room. Names stand whole: one has to type them."""

    entries: Sequence[Entry]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = _column("name", (safe_line(entry.name) for entry in self.entries))
        forms = [[names, *beside] for beside in _beside(self.entries)]
        chosen = next((form for form in forms if _width(form) <= options.max_width), forms[-1])
        head, *lines = (_GAP.join(cells).rstrip() for cells in zip(*chosen, strict=True))
        yield Text(head, "dim")
        for entry, line in zip(self.entries, lines, strict=True):
            yield Text(line, overflow="fold")
            if entry.problem:
                yield indented(Text(safe_line(entry.problem, 300), "yellow"))


def _beside(entries: Sequence[Entry]) -> Iterator[list[Column]]:
    """The columns beside the names: all of them, then shorter and fewer ones; at last none."""
    times = [moment(entry.started_at) for entry in entries]
    minutes = (time.removesuffix(" UTC").rpartition(":")[0] or time for time in times)
    counts = ("?" if e.exchanges is None else number(e.exchanges) for e in entries)
    taps = ["?" if e.taps is None else ", ".join(e.taps) or "none" for e in entries]
    sides = ("both" if "," in tap else tap for tap in taps)
    exchanges = _column("exchanges", counts, right=True)
    sizes = _column("size", (size(entry.bytes) for entry in entries), right=True)
    yield [_column("started", times), exchanges, _column("taps", taps), sizes]
    short = [_column("started, UTC", minutes), exchanges, _column("taps", sides), sizes]
    yield from (short[:kept] for kept in range(len(short), -1, -1))


def _column(title: str, cells: Iterable[str], *, right: bool = False) -> Column:
    every = [title, *cells]
    width = max(map(cell_len, every))
    blanks = [" " * (width - cell_len(cell)) for cell in every]
    return [b + cell if right else cell + b for cell, b in zip(every, blanks, strict=True)]


def _width(form: Sequence[Column]) -> int:
    return sum(cell_len(column[0]) for column in form) + len(_GAP) * (len(form) - 1)
