"""What a record parser returns, and the small tools they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.layouts import peel
from forensics.model import Line, Prefix, Value, Weight


@dataclass(frozen=True, slots=True)
class Record:
    """Several lines understood as one thing.

    `first`, `last`: its lines. `cause`: what it decides, None where it only describes. `quote`: numbers of the lines worth
    quoting, best first. `decides`: causes or families (`gpu_memory.*`) whose hits inside it give way to `cause`.
    `lends`: its fields go to the hits inside it as well.
    """

    kind: str
    first: int
    last: int
    cause: str | None
    weight: Weight
    quote: tuple[Line, ...]
    fields: dict[str, Value] = field(default_factory=dict)
    decides: tuple[str, ...] = ()
    lends: bool = False


@dataclass(frozen=True, slots=True)
class Peeled:
    """A line and what its wrappers tell."""

    line: Line
    prefix: Prefix

    @property
    def message(self) -> str:
        """The line without its wrappers."""
        return self.prefix.message


def peeled(lines: Sequence[Line]) -> list[Peeled]:
    """`lines` without their wrappers, in order."""
    return [Peeled(line, peel(line.text)) for line in lines]
