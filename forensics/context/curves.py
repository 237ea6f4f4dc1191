"""Lines that print a loss, memory in use or a rate again and again, to Curves.

    2026-11-21 08:45:51 step 115 loss 2.3356 rss 1011 MiB    -> points of "loss" and "rss"
     14%|#4        | 377/2724 [13:55<86:19, 6.97it/s]         -> a point of "it/s"

For a picture only; what the numbers mean is decided elsewhere.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal

from forensics.model import Curve, Line, Scan, Trigger

TRIGGER = Trigger(
    "curves", ("loss", "it/s", "samples/s", "tokens/s", " rss", "rss=", "memory allocated", "memory usage"), thin=True
)
NUMBER = r"(?P<value>[+-]?(?:\d[\d,]*\.?\d*(?:[eE][+-]?\d+)?|nan|inf|NaN|Inf))"
LOSS = re.compile(
    rf"\b(?P<name>(?:train(?:ing)?|val(?:id(?:ation)?)?|eval|total|lm)?[_ ]?loss)['\"]?\s*[:=]?\s*{NUMBER}(?![\w.])", re.I
)
RATE = re.compile(rf"{NUMBER}\s*(?P<name>(?:it|iters?|samples|tokens|steps)/s)(?:ec)?\b")
MEMORY = re.compile(
    r"\b(?P<name>rss|memory[ _](?:usage|used|allocated))\b[^\d\n]{0,12}"
    r"(?P<value>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>[kmg]i?)?b\b",
    re.I,
)
RANK = re.compile(r"\[?\brank\s*[:=]?\s*(\d{1,5})\b|\[default(\d{1,3})\]", re.I)
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
KINDS: tuple[tuple[Literal["memory", "loss", "throughput"], str, re.Pattern[str]], ...] = (
    ("loss", "", LOSS),
    ("memory", "B", MEMORY),
    ("throughput", "1/s", RATE),
)
FEWEST = 8
MOST_POINTS = 160
MOST_CURVES = 12

Key = tuple[str, str, str, int | None]


def curves(scans: Iterable[Scan]) -> tuple[Curve, ...]:
    """The curves of at least FEWEST points; the longest first, at most MOST_CURVES, thinned evenly to MOST_POINTS."""
    found = [c for scan in scans for c in _of(scan)]
    return tuple(sorted(found, key=lambda c: (-len(c.points), c.source, c.name, c.rank or 0))[:MOST_CURVES])


def _of(scan: Scan) -> Iterator[Curve]:
    points: dict[Key, list[tuple[int, float | None]]] = defaultdict(list)
    origin = scan.source.origin or int
    for region in sorted(scan.regions.get(TRIGGER.kind, ()), key=lambda r: r.number):
        for key, value in _read(Line(origin(region.number), region.text)):
            points[key].append((origin(region.number), value))
    for (kind, name, unit, rank), values in points.items():
        if len(values) >= FEWEST:
            yield Curve(name, kind, unit, scan.source.name, rank, thinned(values))  # type: ignore[arg-type]


def _read(line: Line) -> Iterator[tuple[Key, float | None]]:
    said = RANK.search(line.text)
    rank = int(said[1] or said[2]) if said else None
    for kind, unit, pattern in KINDS:
        match = pattern.search(line.text)
        if match:
            value = float(match["value"].replace(",", ""))
            if kind == "memory":
                value *= UNITS[(match["unit"] or "")[:1].lower()]
            yield (kind, match["name"].lower().strip(" _"), unit, rank), value if math.isfinite(value) else None


def thinned(points: list[tuple[int, float | None]]) -> tuple[tuple[int, float | None], ...]:
    """At most MOST_POINTS of them, evenly; the last one always."""
    step = -(-len(points) // MOST_POINTS)
    return tuple(points[::step]) if (len(points) - 1) % step == 0 else (*points[::step][: MOST_POINTS - 1], points[-1])
