"""What an import read, what it did not, and why."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.core.exchange import Tap
from proxyaudit.core.recording import Flaw
from proxyaudit.report.parts import count, grid, indented
from proxyaudit.report.safe import safe_line

_KINDS = {
    "folder": "a recording",
    "lines": "JSON Lines",
    "flow": "mitmproxy flows",
    "har": "HAR",
    "trace": "a trace",
}
_FULL = 10


@dataclass(slots=True)
class ImportedFile:
    """One file of an import. `other` counts exchanges that are no turns, by reason.

    `kind` is empty and `problem` says why where nothing could be read.
    """

    path: str
    kind: str = ""
    taps: Counter[Tap] = field(default_factory=Counter)
    turns: int = 0
    other: Counter[str] = field(default_factory=Counter)
    flaws: list[Flaw] = field(default_factory=list)
    problem: str = ""


def import_text(files: Sequence[ImportedFile], folder: str | None) -> RenderableType:
    """A paragraph for each file, and where it was written to (None: nowhere)."""
    parts: list[RenderableType] = [part for each in files for part in _file(each)]
    if folder is None:
        return Group(*parts, Text("\nNothing was written."))
    where = safe_line(folder)
    parts.append(Text(f"\nWritten to {where}, keys and cookies hidden."))
    parts.append(Text(f"\nNext:\n  proxyaudit audit {where}\n  proxyaudit show {where}"))
    return Group(*parts)


def _file(one: ImportedFile) -> Iterator[RenderableType]:
    name = safe_line(one.path)
    if one.problem:
        yield Text(f"{name}: not read: {safe_line(one.problem)}", "yellow")
        return
    read = count(one.taps.total(), "exchange")
    taps = " and ".join(f"the {tap}" for tap in ("client", "upstream") if one.taps[tap])
    side = f"{taps} {'taps' if len(one.taps) > 1 else 'tap'}"
    yield Text(f"{name}: {_KINDS[one.kind]}, {read} of {side}, {count(one.turns, 'turn')}")
    rows: list[tuple[str, str | Text]] = [*_other(one.other), *_flaws(one)]
    if rows:
        yield indented(grid(rows[:_FULL], right=(0,)))
    if len(rows) > _FULL:
        yield indented(Text(f"and {count(len(rows) - _FULL, 'more reason')}"))
    of_all = [flaw.message for flaw in one.flaws if _is_of_all(flaw, one)]
    yield from (indented(Text(safe_line(message, 300), "yellow")) for message in of_all)


def _other(reasons: Counter[str]) -> Iterator[tuple[str, str]]:
    for reason, times in reasons.most_common():
        yield f"{times:,}", f"no turn: {safe_line(reason, 200)}"


def _is_of_all(flaw: Flaw, one: ImportedFile) -> bool:
    """Whether a flaw is told of the whole file, its number in its words."""
    return flaw.where == one.path.rpartition("/")[2]


def _flaws(one: ImportedFile) -> Iterator[tuple[str, Text]]:
    """Equal reasons once, with their number and the first place."""
    flaws = [flaw for flaw in one.flaws if not _is_of_all(flaw, one)]
    times = Counter(flaw.message for flaw in flaws)
    first = {flaw.message: flaw.where for flaw in reversed(flaws)}
    for message, number in times.most_common():
        place = safe_line(first[message], 80)
        where = f"{'first ' if number > 1 else ''}{place}"
        yield f"{number:,}", Text(f"{safe_line(message, 300)} ({where})", "yellow")
