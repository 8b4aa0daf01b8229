"""The list of recordings, as text and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from proxyaudit.report.json import to_json
from proxyaudit.report.parts import grid
from proxyaudit.report.safe import safe_line
from proxyaudit.report.units import moment, number, size


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
    heads = tuple(Text(h, "dim") for h in ("name", "started", "exchanges", "taps", "size", ""))
    return grid([heads, *(_row(entry) for entry in entries)], right=(2, 4))


def _row(entry: Entry) -> tuple[Text | str, ...]:
    return (
        safe_line(entry.name, 50),
        moment(entry.started_at),
        "?" if entry.exchanges is None else number(entry.exchanges),
        "?" if entry.taps is None else ", ".join(entry.taps) or "none",
        size(entry.bytes),
        Text(safe_line(entry.problem or "", 100), "yellow"),
    )
