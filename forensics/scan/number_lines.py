"""Keeps an even sample of the lines that hold numbers of series, of each kind of trigger by itself.

rank 3 step 40 loss 2.31 mem 61.2GB   -> one Region, kept among the lines of losses and among those of memory
"""

from collections.abc import Iterator, Sequence

from forensics.core import limits
from forensics.core.text import decode_line
from forensics.model import Region, Trigger
from forensics.scan.chunks import Chunk
from forensics.scan.fold import EvenSample
from forensics.scan.place import AnchorPlace, LineNumbers


class NumberLines:
    """Takes the places of the anchors of series chunk by chunk. `thin`: of each such anchor the index of its trigger."""

    def __init__(self, source: str, triggers: Sequence[Trigger], thin: Sequence[tuple[int, str]]) -> None:
        self.source, self.triggers = source, triggers
        self.trigger_of = [i for i, _ in thin]
        self.neighbours = {i: (triggers[i].before, triggers[i].after) for i in self.trigger_of}
        # By kind, those of the first chunk apart: it has all its places.
        self.samples: dict[tuple[str, bool], EvenSample[Region]] = {}

    def feed(self, chunk: Chunk, places: Sequence[tuple[int, int]], first_line: int) -> None:
        """Take in the places of one chunk, whose first line is number `first_line`."""
        data, trigger_of = chunk.data, self.trigger_of
        samples: dict[int, EvenSample[Region]] = {}
        numbers = LineNumbers(data, first_line)
        place: AnchorPlace | None = None
        alone: Region | None = None  # the region of the line without neighbours, which several kinds share
        framed: set[int] = set()
        start = end = frame = 0
        most = limits.current.text
        no_frames = b"\r" not in data
        for to, anchor in places:
            at, i = to - 1, trigger_of[-1 - anchor]
            if at >= end:  # a line we have not looked at
                start = data.rfind(b"\n", start, at) + 1 or start
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
            if at >= frame:  # of a bar that is redrawn, each frame has its numbers
                frame = data.find(b"\r", at, end)
                frame = end if frame < 0 else frame
                framed, place, alone = set(), None, None
            if i in framed:
                continue
            framed.add(i)
            sample = samples.get(i) or samples.setdefault(i, self._sample(i, first_line > 1))
            if not sample.wants():
                continue
            is_long = end - start > most  # of a long line only what is near the place is read
            if no_frames and not is_long and self.neighbours[i] == (0, 0):
                alone = alone or Region(self.source, numbers.of(start), decode_line(data[start:end]), end=end - start)
                sample.add(alone)
                continue
            if place is None or is_long:
                place = AnchorPlace(chunk, start, end, at, numbers, frame)
            sample.add(place.region(self.source, *self.neighbours[i]))

    def _sample(self, i: int, later: bool) -> EvenSample[Region]:
        """The sample of the regions of trigger `i`, of the first chunk or of the later ones."""
        return self.samples.setdefault((self.triggers[i].kind, later), EvenSample())

    def regions(self) -> Iterator[tuple[str, list[Region]]]:
        """The kind and the regions of each sample, those of the first chunk first."""
        return ((kind, sample.kept) for (kind, _), sample in self.samples.items())
