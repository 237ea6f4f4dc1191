"""Keeps an even sample of the lines that hold numbers of series, of each kind of trigger by itself.

rank 3 step 40 loss 2.31 mem 61.2GB   -> one Region, kept among the lines of losses and among those of memory
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from forensics.core import limits
from forensics.core.text import decode_line
from forensics.model import Region, Trigger
from forensics.scan.chunks import Chunk
from forensics.scan.fold import EvenSample
from forensics.scan.place import AnchorPlace, LineNumbers

MIN_DENSE_BYTES = 1000  # chosen by hand: with a place in so many bytes, it is faster to divide the whole chunk into lines


class NumberLines:
    """Takes the places of the anchors of series chunk by chunk. `thin`: of each such anchor the index of its trigger."""

    def __init__(self, source: str, triggers: Sequence[Trigger], thin: Sequence[tuple[int, str]]) -> None:
        self.source, self.triggers = source, triggers
        self.trigger_of = [i for i, _ in thin]
        self.bare = {i for i in self.trigger_of if not triggers[i].before and not triggers[i].after}
        # By kind, those of the first chunk apart: it has all its places.
        self.samples: dict[tuple[str, bool], EvenSample[Region]] = {}

    def feed(self, chunk: Chunk, places: Sequence[tuple[int, int]], first_line: int) -> None:
        """Take in the places of one chunk, whose first line is number `first_line`."""
        if len(places) * MIN_DENSE_BYTES > len(chunk.data) and b"\r" not in chunk.data:
            rows = chunk.data.split(b"\n")
            if max(map(len, rows)) <= limits.current.text:
                alone = [(to, i) for to, i in ((to, self.trigger_of[-1 - anchor]) for to, anchor in places) if i in self.bare]
                self._feed_rows(rows, alone, first_line)
                places = [place for place in places if self.trigger_of[-1 - place[1]] not in self.bare]
        self._feed_places(chunk, places, first_line)

    def _feed_rows(self, rows: Sequence[bytes], places: Sequence[tuple[int, int]], first_line: int) -> None:
        """The places (offset, trigger) of triggers without neighbours in `rows`, which are whole lines of one frame each."""
        samples = {i: self._sample(i, first_line > 1) for i in {i for _, i in places}}
        ends = [*accumulate(len(row) + 1 for row in rows)]
        row, end = -1, 0
        alone: Region | None = None  # the line, which several kinds share
        found: set[int] = set()
        for to, i in places:
            if to > end:
                row = bisect_left(ends, to, row + 1)
                end, alone = ends[row], None
                found.clear()
            if i in found:
                continue
            found.add(i)
            if samples[i].wants():
                raw = rows[row]
                alone = alone or Region(self.source, first_line + row, decode_line(raw), end=len(raw))
                samples[i].add(alone)

    def _feed_places(self, chunk: Chunk, places: Sequence[tuple[int, int]], first_line: int) -> None:
        """As feed(), for lines of any kind."""
        data = chunk.data
        samples: dict[int, EvenSample[Region]] = {}
        numbers = LineNumbers(data, first_line)
        place: AnchorPlace | None = None
        framed: set[int] = set()
        start = end = frame = 0
        for to, anchor in places:
            at, i = to - 1, self.trigger_of[-1 - anchor]
            if at >= end:  # a line we have not looked at
                start = data.rfind(b"\n", start, at) + 1 or start
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
            if at >= frame:  # of a bar that is redrawn, each frame has its numbers
                frame = data.find(b"\r", at, end)
                frame = end if frame < 0 else frame
                framed, place = set(), None
            if i in framed:
                continue
            framed.add(i)
            sample = samples.get(i) or samples.setdefault(i, self._sample(i, first_line > 1))
            if sample.wants():
                if place is None or end - start > limits.current.text:  # of a long line only what is near the place is read
                    place = AnchorPlace(chunk, start, end, at, numbers, frame)
                sample.add(place.region(self.source, self.triggers[i].before, self.triggers[i].after))

    def _sample(self, i: int, later: bool) -> EvenSample[Region]:
        """The sample of the regions of trigger `i`, of the first chunk or of the later ones."""
        return self.samples.setdefault((self.triggers[i].kind, later), EvenSample())

    def regions(self) -> Iterator[tuple[str, list[Region]]]:
        """The kind and the regions of each sample, those of the first chunk first."""
        return ((kind, sample.kept) for (kind, _), sample in self.samples.items())
