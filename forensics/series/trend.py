"""Robust statistics of a short list of numbers: does it rise and keep rising, how fast, where does its level change?

The functions do not depend on the meaning of the numbers. They are plain Python, without numpy. Those over all pairs of values
are quadratic, so at most MAX_TREND_POINTS values are used.

The trend test. Leave out the first quarter (warm-up). Divide the rest into TREND_PARTS equal parts and take their medians. The
values rise if
- each median is above the one before it by MIN_PART_RISE_SHARE of the whole rise, the last one by MIN_LAST_PART_RISE_SHARE: the
  rise does not flatten;
- the lowest value of the last part is above the median of the first part: a saw-tooth would return to its minimum;
- the rise is at least MIN_RISE_SHARE_OF_LEVEL of the first median;
- the Mann-Kendall test (H. B. Mann 1945, M. G. Kendall 1975) excludes chance: tau >= MIN_TAU, z >= MIN_Z.
The slope is the Theil-Sen estimate: the median slope over all pairs (P. K. Sen 1968).
"""

import itertools
import math
from bisect import bisect_left, insort
from collections.abc import Sequence

from msgspec import Struct

from forensics.core.averages import mean, median

MAX_TREND_POINTS = 200  # 20,000 pairs, a few milliseconds
MIN_TREND_READINGS = 8  # six after the warm-up, two for each of three parts
TREND_PARTS = 5  # chosen by hand: enough to see a rise flatten, with three readings in each from 20 on
MIN_PART_RISE_SHARE = 0.05  # chosen by hand: a fifth of its fair share of 1/4, as steps vary; docs/series.md
MIN_LAST_PART_RISE_SHARE = 0.12  # chosen by hand: half of its fair share of 1/4; a warm-up has flattened by then
MIN_RISE_SHARE_OF_LEVEL = 0.05  # chosen by hand: caches and fragmentation move memory by a few percent
MIN_TAU = 0.5  # chosen by hand: three pairs of four rise
MIN_Z = 3.0  # chance alone gives it once in 740 series; with few readings 2 is as much as can be had
MIN_SHORT_RISE_SHARE = 0.1  # chosen by hand: twice MIN_RISE_SHARE_OF_LEVEL, as few readings show little
MIN_LAST_STEP_OF_MEAN = 0.35  # chosen by hand: as for evaluations, a step that fades is a pool that fills
MIN_STRONG_RISE_SHARE = 0.3  # of the first value: growth that is strong evidence for a leak


class Rise(Struct, frozen=True):
    """A rise that has not flattened. `share`: of the first value; `tau`, `z`: of the Mann-Kendall test; `slope`: per reading."""

    share: float
    tau: float
    z: float
    slope: float


def evenly_sampled(values: Sequence[float], max_values: int = MAX_TREND_POINTS) -> list[float]:
    """Every n-th value, at most `max_values` of them, and the last one."""
    stride = -(-len(values) // max_values)
    return [*values[::stride], values[-1]] if stride > 1 else list(values)


def rise(values: Sequence[float], min_share: float = MIN_RISE_SHARE_OF_LEVEL) -> Rise | None:
    """The rise of `values` by the trend test; None if there is none or there are fewer than MIN_TREND_READINGS values.
    `min_share`: the smallest rise, as a share of the first median."""
    if len(values) < MIN_TREND_READINGS or not all(map(math.isfinite, values)):
        return None
    body = values[len(values) // 4 :]
    parts = _parts(body, TREND_PARTS if len(body) >= 3 * TREND_PARTS else 3)
    medians = [median(p) for p in parts]
    whole = medians[-1] - medians[0]
    if whole <= 0 or whole < min_share * abs(medians[0]):
        return None
    gaps = [b - a for a, b in itertools.pairwise(medians)]
    if min(gaps) < MIN_PART_RISE_SHARE * whole or gaps[-1] < MIN_LAST_PART_RISE_SHARE * whole * (TREND_PARTS - 1) / len(gaps):
        return None
    if min(parts[-1]) < median(parts[0]):
        return None
    sample = evenly_sampled(body)
    tau, z = mann_kendall(sample)
    if tau < MIN_TAU or z < min(MIN_Z, 2.0 + len(body) / 20):
        return None
    slope = theil_sen(sample) * len(sample) / len(body)
    return Rise((values[-1] - values[0]) / abs(values[0] or 1.0), tau, z, slope)


def short_rise(values: Sequence[float], min_share: float = MIN_SHORT_RISE_SHARE) -> Rise | None:
    """The rise of 3 to 7 values: each is above the one before it, and the last step is MIN_LAST_STEP_OF_MEAN of the mean step."""
    if not 3 <= len(values) < MIN_TREND_READINGS or not all(map(math.isfinite, values)):
        return None
    steps = [b - a for a, b in itertools.pairwise(values)]
    usual = mean(steps)
    if min(steps) <= 0 or steps[-1] < MIN_LAST_STEP_OF_MEAN * usual or sum(steps) < min_share * abs(values[0]):
        return None
    tau, z = mann_kendall(values)
    return Rise(sum(steps) / abs(values[0] or 1.0), tau, z, theil_sen(values))


def _parts(values: Sequence[float], count: int) -> list[Sequence[float]]:
    edges = [round(i * len(values) / count) for i in range(count + 1)]
    return [values[a:b] for a, b in itertools.pairwise(edges)]


def mann_kendall(values: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau of the values against their order, and z of the Mann-Kendall test, both without a correction for ties."""
    n = len(values)
    score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    pairs = n * (n - 1) / 2
    spread = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    return (score / pairs, (score - math.copysign(1, score)) / spread) if score else (0.0, 0.0)


def theil_sen(values: Sequence[float], at: Sequence[float] | None = None) -> float:
    """The median slope over all pairs. `at`: the positions of the values (default: 0, 1, 2, ...)."""
    at = at or range(len(values))
    slopes = [
        (values[j] - values[i]) / (at[j] - at[i]) for i in range(len(values)) for j in range(i + 1, len(values)) if at[j] != at[i]
    ]
    return median(slopes) if slopes else 0.0


def medians_of_windows(values: Sequence[float], width: int) -> list[float]:
    """The median of each `width` values in a row, each found from the window before it."""
    window = sorted(values[:width])
    low, high = (width - 1) // 2, width // 2
    found = [window[low] / 2 + window[high] / 2]
    for gone, new in zip(values, values[width:], strict=False):
        del window[bisect_left(window, gone)]
        insort(window, new)
        found.append(window[low] / 2 + window[high] / 2)
    return found


class Shift(Struct, frozen=True):
    """A change of level. `at`: index of the first value of the new level. `before`, `after`: medians of the two sides.

    `separation`: the share of all pairs (one value before, one after) in which the later value is larger, 0 to 1 (Mann-Whitney U;
    H. B. Mann and D. R. Whitney 1947). The split with the most extreme statistic is taken (A. N. Pettitt 1979).
    """

    at: int
    before: float
    after: float
    separation: float


def shift(values: Sequence[float], min_side: int = 5) -> Shift | None:
    """The most likely change of level with `min_side` or more values on each side; None for fewer than twice as many values."""
    n = len(values)
    if n < 2 * min_side:
        return None
    ranks = _ranks(values)
    total, best, at = 0.0, -1.0, 0
    for i in range(n - 1):
        total += ranks[i]
        statistic = abs(2 * total - (i + 1) * (n + 1))  # Pettitt's, from ranks
        if min_side <= i + 1 <= n - min_side and statistic > best:
            best, at = statistic, i + 1
    before, after = values[:at], values[at:]
    wins = sum(ranks[at:]) - len(after) * (len(after) + 1) / 2
    return Shift(at, median(before), median(after), wins / (len(before) * len(after)))


def _ranks(values: Sequence[float]) -> list[float]:
    """The ranks of the values, from 1; equal values share their mean rank."""
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
