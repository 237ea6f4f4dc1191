"""What was worked out of the objects that were asked about last.

lines of the batch of files that is read   ->   divided, their prefixes parsed; the next stage finds both
"""

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Values, each of one object. Those that were kept last stay, as many as weigh `most` together, and one in any case."""

    def __init__(self, most: int) -> None:
        self.most, self.weight = most, 0
        # By the number of the object, which is held so that the number stays its own; with its weight.
        self.kept: OrderedDict[int, tuple[object, T, int]] = OrderedDict()

    def get(self, owner: object) -> T | None:
        """The value of `owner`, None if it is not kept."""
        found = self.kept.get(id(owner))
        return found[1] if found else None

    def take(self, owner: object) -> T | None:
        """The value of `owner`, which is kept no longer; None if it is not kept."""
        _, value, weight = self.kept.pop(id(owner), (None, None, 0))
        self.weight -= weight
        return value

    def keep(self, owner: object, value: T, weight: int) -> T:
        """Keep `value`, which is returned."""
        self.weight += weight - self.kept.get(id(owner), (None, None, 0))[2]
        self.kept[id(owner)] = owner, value, weight
        while self.weight > self.most and len(self.kept) > 1:
            self.weight -= self.kept.popitem(last=False)[1][2]
        return value
