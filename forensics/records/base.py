"""What a record parser returns, and the small tools they share."""

from collections.abc import Sequence

from msgspec import Struct, field

from forensics.layouts import peel
from forensics.model import Line, Prefix, Value, Weight


class Record(Struct, frozen=True):
    """Several lines understood as one thing.

    `first`, `last`: its lines. `cause`: what it decides, None where it only describes. `quote`: numbers of the lines worth
    quoting, best first. `decides`: causes or families (`gpu_memory.*`) whose hits inside it give way to `cause`.
    `lends`: its fields go to the hits inside it as well. `count`: how many equal ones it stands for; `places`: first and last
    line of each of them that is known, empty for one.
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
    count: int = 1
    places: tuple[tuple[int, int], ...] = ()

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each place it speaks of."""
        return self.places or ((self.first, self.last),)

    def speaks_for(self, cause: str) -> bool:
        """Does a hit of `cause` inside it give way to it: the same thing said, or one that it is there to decide between?"""
        family = cause.split(".")[0] + ".*"
        return cause in self.decides or family in self.decides or (self.lends and cause == self.cause)


class Peeled(Struct, frozen=True):
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
