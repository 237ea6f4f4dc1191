"""Keep repeated messages in bounded memory: a message that occurs a million times becomes one Hit with a count."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.model import Hit, Line

T = TypeVar("T")
KEPT_ENDS = 300  # chosen by hand: a fault that repeats is told by its first and last lines; bounds memory for each signature
MAX_SAMPLED = 4096  # chosen by hand: a curve of a few thousand points is drawn as it is; bounds memory for each series
KEPT_LINES = 8  # of a message that repeats: its first lines, and its last one


class FirstAndLast(Generic[T]):
    """Keeps the first and the last KEPT_ENDS of what is added."""

    def __init__(self) -> None:
        self.first: list[T] = []
        self.last: deque[T] = deque(maxlen=KEPT_ENDS)
        self.total = 0

    @property
    def dropped(self) -> int:
        """How many were not kept."""
        return self.total - len(self.first) - len(self.last)

    def more(self, count: int) -> None:
        """Add `count` to the total, for items that were counted and never made."""
        self.total += count

    def add(self, item: T) -> None:
        """Keep `item` among the first while there is room, else among the last."""
        self.total += 1
        if len(self.first) < KEPT_ENDS:
            self.first.append(item)
            return
        self.last.append(item)

    def items(self) -> list[T]:
        """What was kept, in order."""
        return [*self.first, *self.last]


class EvenSample(Generic[T]):
    """Keeps an even sample of at most `most` items. When it is full, every second item is dropped and the stride doubles."""

    def __init__(self, most: int = MAX_SAMPLED) -> None:
        self.most = most
        self.kept: list[T] = []
        self.stride = 1
        self.seen = 0

    def wants(self) -> bool:
        """Should the next item be added? It is counted in both cases."""
        self.seen += 1
        return (self.seen - 1) % self.stride == 0

    def extend(self, items: Sequence[T]) -> None:
        """Add those of `items` that are wanted."""
        if self.stride == 1 and len(self.kept) + len(items) < self.most:
            self.kept += items
            self.seen += len(items)
            return
        for item in items:
            if self.wants():
                self.add(item)

    def add(self, item: T) -> None:
        """Keep `item`, for which wants() returned True."""
        self.kept.append(item)
        if len(self.kept) >= self.most:
            del self.kept[1::2]
            self.stride *= 2


Key = tuple[tuple[str, str], ...]


class _Folded(Struct):
    """A hit, how often its message occurs, its last line, and a few of its other lines."""

    hit: Hit
    count: int = 1
    last: Line | None = None
    also: list[Line] = field(default_factory=list)


class HitFold:
    """The hits of one signature in one source: equal fields fold into one Hit, silenced or not, and distinct ones are bounded.

    Past 2 * KEPT_ENDS distinct ones, the first of the others stands for all of them.
    """

    def __init__(self) -> None:
        self.kept: dict[Key, _Folded] = {}
        self.more = 0  # messages of the same signature that were counted and not read

    def count_repeat(self, fields: Mapping[str, str], line: Line, silenced: bool) -> bool:
        """Count a message that was seen before; False for a new one, for which a Hit has to be made."""
        same = self.kept.get(self._key(fields, silenced))
        if same is None:
            return False
        same.count += 1
        same.last = line
        if len(same.also) < KEPT_LINES:
            same.also.append(line)
        return True

    def add(self, hit: Hit) -> None:
        """Keep a message that count_repeat() does not know."""
        self.kept[self._key(hit.fields, hit.silenced)] = _Folded(hit)

    def _key(self, fields: Mapping[str, str], silenced: bool) -> Key:
        key = (*sorted(fields.items()), *([("", "silenced")] if silenced else []))
        rest = (("", "the rest"), *([("", "silenced")] if silenced else []))
        return key if key in self.kept or len(self.kept) < 2 * KEPT_ENDS else rest

    def hits(self) -> list[Hit]:
        """The folded hits in order of their first line."""
        if self.more:
            next(reversed(self.kept.values())).count += self.more
            self.more = 0
        made = [replace(f.hit, count=f.count, also=_others(f)) for f in self.kept.values()]
        return sorted(made, key=lambda h: h.line)


def _others(folded: _Folded) -> tuple[Line, ...]:
    lines = {line.number: line for line in (*folded.also, *([folded.last] if folded.last else []))}
    return tuple(lines.values())
