"""The processor time of an input is divided among its sources.

    needs by size: 0.05 s, 0.3 s, 40 s, 40 s;  20 s to spend   ->  0.05, 0.3, 9.8, 9.8: the small ones are read whole
    the third one takes 2 s only                               ->  the fourth may take 17 s

What a source may need is estimated from its size. One that takes more than its share gets nothing of the others' shares.
"""

from collections.abc import Sequence

from forensics.core.input_time import READING_PART, SHARE_TO_READ, InputTime, Share
from forensics.core.limits import MIB
from forensics.model import Source, Warn, Warning

NEEDED_S = 0.05  # of a source of any size: five times what a short log takes
MIN_SHARE_S = 0.02  # as long as there is time at all: the shares of many small sources would be too short to open them
NEEDED_S_PER_MIB = 0.2  # five times what the slowest real form of log takes, a kernel's log without end


class TimeShares:
    """The shares of the sources of one input, in the order in which they are read. Sources of one input have the same time."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.time = next((s.time for s in sources if s.time), None)
        self.current: Share | None = None
        self.unread: list[str] = []
        if self.time:
            self.time.resume()
            self.most = _level(sorted(map(_needed, sources)), self._left(self.time))
            self.waiting = sum(map(self._wanted, sources))

    def grant(self, source: Source) -> bool:
        """Is there time for `source`, which is read now? `current` is its share then."""
        if self.time is None:
            return True
        wanted, left = self._wanted(source), self._left(self.time)
        self.waiting -= wanted
        if left <= 0:
            self.unread.append(source.name)
            return False
        part = max(left * min(1.0, wanted / (self.waiting + wanted)), MIN_SHARE_S) / self.time.granted
        now = self.time.now()
        self.current = Share(self.time, now + SHARE_TO_READ * part, now + part)
        self.time.part = now + part
        return True

    def expect(self, opened: Sequence[Source], instead: Source) -> None:
        """What was taken for the file `instead` turned out to be the sources `opened`."""
        if self.time:
            self.waiting += sum(map(self._wanted, opened)) - self._wanted(instead)

    def was_read(self, source: Source, seconds: float, is_granted: bool) -> None:
        """Another process read `source` in so many seconds, if it was granted some."""
        if self.time:
            self.waiting -= self._wanted(source)
            self.time.add(seconds)
            self.unread += [] if is_granted else [source.name]

    def seconds(self) -> float:
        """Seconds that were spent so far."""
        return self.time.now() * self.time.granted if self.time else 0.0

    def end(self, warn: Warn) -> None:
        """All sources are read; what is left is for lines that are read again. A warning tells of sources without time."""
        if self.time is None:
            return
        self.time.part = 1.0
        if len(self.unread) == 1:
            warn(Warning("limit", f"not read: {self.time.told()}", self.unread[0]))
        elif self.unread:
            what = f"{len(self.unread):,} sources were not read, {self.unread[0]} for one"
            warn(Warning("limit", f"{what}: {self.time.told()}"))

    @staticmethod
    def _left(time: InputTime) -> float:
        """Seconds that are left for reading."""
        return (READING_PART - time.now()) * time.granted

    def _wanted(self, source: Source) -> float:
        return min(_needed(source), self.most)


def _needed(source: Source) -> float:
    """Seconds that it takes at most, if it is a log as people have them."""
    return NEEDED_S + NEEDED_S_PER_MIB * source.expected / MIB


def _level(rising: Sequence[float], left: float) -> float:
    """What each source gets at most, so that all together get what is `left`; the largest need where that is enough for all."""
    for i, need in enumerate(rising):
        equal = left / (len(rising) - i)
        if need > equal:
            return max(equal, 0.0)
        left -= need
    return rising[-1] if rising else 0.0
