"""Times, sizes and ids in the fewest letters that still say it."""

from collections.abc import Collection
from datetime import UTC, datetime


def clock(epoch: float) -> str:
    """A time of day, UTC."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%H:%M:%S")


def moment(epoch: float) -> str:
    """A date and a time, UTC."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def seconds(value: float | None) -> str:
    """2 ms, 0.31 s, 42 s; empty if not known."""
    if value is None:
        return ""
    if value < 0.1:
        return f"{value * 1000:.0f} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"


def size(count: int) -> str:
    """Bytes in units of 1000."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def number(value: int | None) -> str:
    """1,204; empty if not known."""
    return "" if value is None else f"{value:,}"


def short_length(ids: Collection[str], least: int = 8) -> int:
    """How many characters of an id tell all of them apart."""
    longest = max(map(len, ids), default=least)
    for length in range(least, longest):
        if len({id_[:length] for id_ in ids}) == len(set(ids)):
            return length
    return max(least, longest)
