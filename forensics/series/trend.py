"""Robust statistics of a short list of numbers: does it rise and keep rising, how fast, where does it change?

Nothing here knows what the numbers are. All of it is plain Python on at most MAX_TREND_POINTS values, because pairs are
quadratic.

The trend test. Leave out the first quarter (warm-up). Cut the rest into five equal parts and take their medians. It rises when
each median is above the one before by at least MIN_PART_RISE_SHARE of the whole rise, the last by MIN_LAST_PART_RISE_SHARE (it
does not flatten), the lowest value of the last part lies above the middle of the first (a saw-tooth comes back to its floor),
the rise is MIN_RISE_SHARE_OF_LEVEL beside the level, and Mann and Kendall's test (H. B. Mann 1945, M. G. Kendall 1975) says
that it is no chance: tau >= MIN_TAU, z >= Z. The speed is Theil and Sen's: the median slope over all pairs (P. K. Sen 1968).
"""

import itertools
import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

MAX_TREND_POINTS = 200
MIN_TREND_READINGS = 8
TREND_PARTS = 5
MIN_PART_RISE_SHARE = 0.05
MIN_LAST_PART_RISE_SHARE = 0.12
MIN_RISE_SHARE_OF_LEVEL = 0.05
MIN_TAU = 0.5
Z = 3.0
MIN_FEW_RISE_SHARE = 0.1
MIN_LAST_STEP_OF_MEAN = 0.35


class Rise(Struct, frozen=True):
    """A rise that has not flattened. `share`: of the first value; `tau`, `z`: Mann and Kendall's; `slope`: a reading."""

    share: float
    tau: float
    z: float
    slope: float


def evenly_sampled(values: Sequence[float], most: int = MAX_TREND_POINTS) -> list[float]:
    """An even sample of at most `most` values, the last one kept."""
    stride = -(-len(values) // most)
    return [*values[::stride], values[-1]] if stride > 1 else list(values)


def rise(values: Sequence[float], material: float = MIN_RISE_SHARE_OF_LEVEL) -> Rise | None:
    """The rise of a series by the trend test, None where there is none; `few_rise` where there are less than MIN_TREND_READINGS
    values."""
    if len(values) < MIN_TREND_READINGS or not all(map(math.isfinite, values)):
        return None
    body = values[len(values) // 4 :]
    parts = _parts(body, TREND_PARTS if len(body) >= 3 * TREND_PARTS else 3)
    medians = [statistics.median(p) for p in parts]
    whole = medians[-1] - medians[0]
    if whole <= 0 or whole < material * abs(medians[0]):
        return None
    gaps = [b - a for a, b in itertools.pairwise(medians)]
    if min(gaps) < MIN_PART_RISE_SHARE * whole or gaps[-1] < MIN_LAST_PART_RISE_SHARE * whole * (TREND_PARTS - 1) / len(gaps):
        return None
    if min(parts[-1]) < statistics.median(parts[0]):
        return None
    sample = evenly_sampled(body)
    tau, z = mann_kendall(sample)
    if tau < MIN_TAU or z < min(Z, 2.0 + len(body) / 20):
        return None
    slope = theil_sen(sample) * len(sample) / len(body)
    return Rise((values[-1] - values[0]) / abs(values[0] or 1.0), tau, z, slope)


def few_rise(values: Sequence[float], material: float = MIN_FEW_RISE_SHARE) -> Rise | None:
    """The rise of 3 to 7 values: each above the one before, the last step at least MIN_LAST_STEP_OF_MEAN of the mean step."""
    if not 3 <= len(values) < MIN_TREND_READINGS or not all(map(math.isfinite, values)):
        return None
    steps = [b - a for a, b in itertools.pairwise(values)]
    mean = statistics.fmean(steps)
    if min(steps) <= 0 or steps[-1] < MIN_LAST_STEP_OF_MEAN * mean or sum(steps) < material * abs(values[0]):
        return None
    tau, z = mann_kendall(values)
    return Rise(sum(steps) / abs(values[0] or 1.0), tau, z, theil_sen(values))


def _parts(values: Sequence[float], count: int) -> list[Sequence[float]]:
    edges = [round(i * len(values) / count) for i in range(count + 1)]
    return [values[a:b] for a, b in itertools.pairwise(edges)]


def mann_kendall(values: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau of values against their order, and the normal deviate of Mann and Kendall's test, both without ties."""
    n = len(values)
    score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    pairs = n * (n - 1) / 2
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return (score / pairs, (score - math.copysign(1, score)) / spread) if score else (0.0, 0.0)


def theil_sen(values: Sequence[float], at: Sequence[float] | None = None) -> float:
    """The median slope over all pairs; `at`: where the values stand (default: one after the other)."""
    at = at or range(len(values))
    slopes = [
        (values[j] - values[i]) / (at[j] - at[i]) for i in range(len(values)) for j in range(i + 1, len(values)) if at[j] != at[i]
    ]
    return statistics.median(slopes) if slopes else 0.0


class Shift(Struct, frozen=True):
    """A change of level. `at`: index of the first value of the new level; the medians of the stretches around it.

    `apart`: of all pairs (one value before, one behind), the part in which the later is the greater, 0 to 1 (Mann and
    Whitney's U; H. B. Mann and D. R. Whitney 1947); the split with the most extreme one is taken (A. N. Pettitt 1979).
    """

    at: int
    before: float
    after: float
    apart: float


def shift(values: Sequence[float], least: int = 5) -> Shift | None:
    """The most likely change of level with at least `least` values on each side; None for fewer than 2 * `least` values."""
    n = len(values)
    if n < 2 * least:
        return None
    ranks = _ranks(values)
    total, best, at = 0.0, -1.0, 0
    for i in range(n - 1):
        total += ranks[i]
        here = abs(2 * total - (i + 1) * (n + 1))  # Pettitt's statistic by ranks
        if least <= i + 1 <= n - least and here > best:
            best, at = here, i + 1
    before, after = values[:at], values[at:]
    wins = sum(ranks[at:]) - len(after) * (len(after) + 1) / 2
    return Shift(at, statistics.median(before), statistics.median(after), wins / (len(before) * len(after)))


def _ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, equal values sharing their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            ranks[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return ranks
