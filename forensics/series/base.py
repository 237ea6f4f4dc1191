"""A number that a log prints again and again: its readings in order, and what it measures.

step 40 rss 1,234.5 MB -> Reading(line 12, value 1294467072.0, step 40) of Series("rss", quantity "memory", unit "bytes")
"""

from dataclasses import dataclass, replace

# What a series can measure. `memory` is in bytes or percent, times in seconds, rates in units a second.
QUANTITIES = (
    "memory", "loss", "grad_norm", "loss_scale", "lr", "step", "total", "epoch", "step_time", "data_time", "rate",
    "temperature", "clock",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """One number where it was printed. `step`: the step or epoch that its line tells, None where it tells none."""

    line: int
    text: str
    value: float
    step: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Readings of one quantity in order of their lines.

    `scope`: what it belongs to (`rank 3`, `gpu 0`), empty where nothing tells. `sense`, of memory: `used`, `free` or `peak`
    (a high-water mark, or memory that an allocator keeps: it never falls by itself). `gpu`: memory of a GPU, else of the host.
    """

    name: str
    quantity: str
    unit: str
    scope: str
    readings: tuple[Reading, ...]
    sense: str = ""
    gpu: bool = False

    @property
    def values(self) -> list[float]:
        """The numbers alone."""
        return [r.value for r in self.readings]

    def thinned(self, most: int) -> "Series":
        """An even sample of at most `most` + 1 readings that keeps the first and the last."""
        count = len(self.readings)
        if count <= most:
            return self
        stride = -(-count // most)
        kept = self.readings[::stride]
        return replace(self, readings=kept if kept[-1] is self.readings[-1] else (*kept, self.readings[-1]))
