"""The median of paired differences with a bootstrap interval."""

import random
import statistics
from collections.abc import Sequence

from proxyaudit.core.selftest import Interval

_SAMPLES = 1000
_LEVEL = 0.95


def median_interval(differences: Sequence[float], *, seed: int = 1) -> Interval:
    """The median and its 95 % percentile bootstrap interval, in the unit of the differences.

    The differences have to be independent of one another: one for each pair of runs, not one for
    each chunk of a run. The same differences give the same interval. Raises ValueError for none.
    """
    if not differences:
        raise ValueError("no differences")
    dice = random.Random(seed)  # noqa: S311 - statistics, not secrets
    medians = sorted(
        statistics.median(dice.choices(differences, k=len(differences))) for _ in range(_SAMPLES)
    )
    outside = int(_SAMPLES * (1 - _LEVEL) / 2)
    return Interval(
        median=statistics.median(differences),
        low=medians[outside],
        high=medians[-1 - outside],
        pairs=len(differences),
    )
