"""A row of numbers as a row of bars."""

from collections.abc import Sequence

_BARS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[int | None], width: int = 24) -> str:
    """Bars from zero to the largest value; a dot where there is none.

    More values than `width` are thinned out: each bar is the last of its share. An output that has
    no such letters gets plain ones (`report.encoding`).
    """
    shown = values
    if len(values) > width:
        shown = [values[(k + 1) * len(values) // width - 1] for k in range(width)]
    top = max((v for v in shown if v is not None), default=0)
    return "".join("·" if v is None else _bar(v, top) for v in shown)


def _bar(value: int, top: int) -> str:
    if top <= 0:
        return _BARS[0]
    step = max(0, value) * len(_BARS) // top
    return _BARS[min(len(_BARS) - 1, step)]
