"""Times, sizes and ids in the fewest letters that still say it."""

from collections.abc import Collection
from datetime import UTC, datetime, tzinfo

# Beyond this no duration is meant: such a number is shown in short instead of in all its digits.
_ENDLESS = 1e9


def clock(epoch: float, zone: tzinfo | None = UTC) -> str:
    """A time of day, UTC or in a zone (None: that of this machine); "–" for no time at all."""
    at = _date(epoch, zone)
    return at.strftime("%H:%M:%S") if at else "–"


def moment(epoch: float) -> str:
    """A date and a time, UTC; a number that no calendar holds is shown as it is."""
    at = _date(epoch, UTC)
    return at.strftime("%Y-%m-%d %H:%M:%S UTC") if at else f"no date ({epoch:g})"


def _date(epoch: float, zone: tzinfo | None) -> datetime | None:
    """None where there is no such year: a recording may hold any number."""
    try:
        at = datetime.fromtimestamp(epoch, UTC)
        return at if zone is UTC else at.astimezone(zone)
    except (ValueError, OverflowError, OSError):
        return None


def seconds(value: float | None) -> str:
    """2 ms, 0.31 s, 42 s; empty if not known."""
    if value is None:
        return ""
    if abs(value) > _ENDLESS:
        return f"{value:.3g} s"
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
