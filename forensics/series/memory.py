"""Lines that print memory in use, to samples: (series, line, bytes).

[rank1]: step 40 RSS: 1,234.5 MB      GPU memory allocated: 10.2 GiB      memory usage 512 MiB
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from forensics.layouts import peel
from forensics.model import Line, Region, Trigger
from forensics.records.units import size_bytes

TRIGGER = Trigger(
    "memory", ("rss", "memory us", "mem us", "memory_us", "memory alloc", "memory_alloc", "ram us", "used memory"), thin=True
)
# `used` must stand by the word: a total, a limit or what is free is no memory in use.
IN_USE = re.compile(
    r"(?P<name>(?:\b(?:gpu|cuda|cpu|ram|host|peak|max|process)[ _]?)*"
    r"\b(?:rss|memory[ _](?:usage|used|use|allocated)|mem[ _](?:usage|used)|ram[ _](?:usage|used)|used[ _]memory))"
    r"\b[^\d\n]{0,12}(?P<size>\d[\d,]*(?:\.\d+)?\s*(?:[kKmMgG]i?)?[bB](?:ytes)?)\b",
    re.IGNORECASE,
)
GPU = re.compile(r"gpu|cuda|vram|allocated", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading: where it stands and how many bytes were in use."""

    line: Line
    bytes: int


@dataclass(frozen=True, slots=True)
class Series:
    """Readings of one quantity in order. `gpu`: it speaks of the GPU's memory."""

    name: str
    gpu: bool
    rank: int | None
    samples: tuple[Sample, ...]


def samples(regions: Iterable[Region]) -> list[Series]:
    """The series that `regions` hold, one for each name and rank."""
    found: dict[tuple[str, int | None], list[Sample]] = defaultdict(list)
    for region in sorted(regions, key=lambda r: r.number):
        match = IN_USE.search(region.text)
        size = size_bytes(match["size"]) if match else None
        if match and size:
            found[match["name"].lower(), peel(region.text).rank].append(Sample(Line(region.number, region.text), size))
    return [Series(name, bool(GPU.search(name)), rank, tuple(s)) for (name, rank), s in found.items()]
