"""Places in words: `turn 5 · client.request /messages/3/content`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proxyaudit.core.report import ReportedPlace
from proxyaudit.report.parts import count, ranges
from proxyaudit.report.safe import safe_line

_POINTERS = 3


class Spot(NamedTuple):
    """One side of one exchange, with all the pointers into it."""

    exchange: str
    side: str
    pointers: tuple[str, ...]


def place_lines(
    places: Sequence[ReportedPlace], numbers: Mapping[str, int], *, whole: bool = False
) -> list[str]:
    """A line for the first spot, and one for how many more there are and in which turns."""
    spots = _spots(places)
    if whole:
        return [_line(spot, numbers, len(spot.pointers)) for spot in spots]
    lines = [_line(spot, numbers, _POINTERS) for spot in spots[:1]]
    rest = spots[1:]
    if len(rest) == 1:
        lines.append(_line(rest[0], numbers, _POINTERS))
    elif rest:
        lines.append(f"and {sum(len(s.pointers) for s in rest)} more, {_turns(rest, numbers)}")
    return lines


def turn_of(exchange: str, numbers: Mapping[str, int]) -> str:
    """turn 5, or the exchange where it is no turn."""
    number = numbers.get(exchange)
    return f"turn {number}" if number else f"exchange {safe_line(exchange, 40)}"


def _spots(places: Sequence[ReportedPlace]) -> list[Spot]:
    held: dict[tuple[str, str], dict[str, None]] = {}
    for place in places:
        held.setdefault((place.exchange, place.side), {})[place.pointer] = None
    return [Spot(exchange, side, tuple(found)) for (exchange, side), found in held.items()]


def _line(spot: Spot, numbers: Mapping[str, int], limit: int) -> str:
    shown = [safe_line(pointer, 120) for pointer in spot.pointers[:limit] if pointer]
    more = len(spot.pointers) - limit
    tail = f" and {more} more" if more > 0 else ""
    where = f"{turn_of(spot.exchange, numbers)} · {safe_line(spot.side, 40)}"
    return f"{where} {', '.join(shown)}{tail}".rstrip()


def _turns(spots: Sequence[Spot], numbers: Mapping[str, int]) -> str:
    known = {numbers[s.exchange] for s in spots if s.exchange in numbers}
    if not known:
        exchanges = len({s.exchange for s in spots})
        return f"in {count(exchanges, 'exchange')}"
    return f"turn{'s' if len(known) > 1 else ''} {ranges(known)}"
