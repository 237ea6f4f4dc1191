"""Keeps an even sample of the lines that hold numbers of series, of each kind of trigger by itself.

rank 3 step 40 loss 2.31 mem 61.2GB   -> one Region, kept among the lines of losses and among those of memory
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress

from forensics.core import limits
from forensics.core.sampling import is_sampled
from forensics.core.shapes import divided
from forensics.core.text import decode_line, decoded_rows
from forensics.model import Region, RegionColumns, Trigger
from forensics.scan.chunks import Chunk
from forensics.scan.fold import EvenSample
from forensics.scan.frames_of_shapes import SHORT_BYTES, FramesOfShapes
from forensics.scan.matcher import MAX_SERIES_PLACES, even_sample
from forensics.scan.place import AnchorPlace, LineNumbers

MAX_DISTINCT_SHARE = 0.25  # chosen by hand: of lines with more shapes, hardly two say the same


class NumberLines:
    """Takes the places of the anchors of series chunk by chunk. `frames`: where they are in lines of known shapes."""

    def __init__(self, source: str, triggers: Sequence[Trigger], frames: FramesOfShapes) -> None:
        self.source, self.triggers, self.frames = source, triggers, frames
        self.find, self.trigger_of = frames.find, frames.trigger_of
        # By kind, those of the first chunk apart: it has all its places.
        self.samples: dict[tuple[str, bool], EvenSample[Region]] = {}
        self.columns: dict[str, RegionColumns] = {}  # by kind: of the first chunk, where they were found by shapes

    def feed(self, chunk: Chunk, places: Sequence[tuple[int, int]] | None, first_line: int, line_ends: int) -> None:
        """Take in the places of one chunk with `line_ends` line ends, whose first line is number `first_line`. None: they are to
        be found by shapes."""
        if places is None and len(chunk.data) <= SHORT_BYTES and self._feed_short(chunk.data, first_line):
            return
        if places is None:
            places = self._feed_shapes(chunk, first_line)
        self._feed_places(chunk, places, first_line, line_ends)

    def _feed_short(self, data: bytes, first_line: int) -> bool:
        """Take in the lines of a short chunk by their shapes; False, and nothing, for long lines and those with neighbours."""
        rows, shapes, distinct = divided(data)
        if max(map(len, distinct)) > limits.current.text:
            return False
        self.frames.learn(distinct)
        found = [(row, self.frames[shape]) for row, shape in enumerate(shapes) if self.frames.get(shape)]
        kinds = {i for _, frames in found for _, _, triggers in frames for i in triggers}
        if sum(len(frames) for _, frames in found) > MAX_SERIES_PLACES or any(
            self.triggers[i].before or self.triggers[i].after for i in kinds
        ):
            return False
        texts = decoded_rows(data, rows) if data.isascii() and b"\x1b" not in data else None
        numbers, shown, ends = list[int](), list[str](), list[int]()
        of_trigger: dict[int, list[int]] = {i: [] for i in kinds}
        for row, frames in found:
            for start, end, triggers in frames:
                for i in triggers:
                    of_trigger[i].append(len(numbers))
                numbers.append(first_line + row)
                shown.append(texts[row][start:end] if texts else decode_line(rows[row][start:end]))
                ends.append(end)
        every = RegionColumns(self.source, numbers, shown, ends)
        for i, own in of_trigger.items():
            columns = every if len(own) == len(numbers) else every.picked(own)
            if first_line == 1 and self.triggers[i].kind not in self.columns:
                self.columns[self.triggers[i].kind] = columns
            else:
                self._sample(i, first_line > 1).extend(columns)
        return True

    def _feed_shapes(self, chunk: Chunk, first_line: int) -> Sequence[tuple[int, int]]:
        """Take in the lines of a chunk by their shapes, in which anchors are looked for once. Returns the places that are left:
        of triggers with neighbours, or all, where lines have several frames, are long, or have hardly a shape in common."""
        rows, shapes, distinct = divided(chunk.data)
        is_long = max(map(len, distinct)) > limits.current.text
        if is_long or b"\r" in chunk.data or len(distinct) > MAX_DISTINCT_SHARE * len(rows):
            return even_sample(self.find(chunk.data))
        texts = decoded_rows(chunk.data, rows)
        left: list[tuple[int, int]] = []
        columns_of: dict[frozenset[bytes], RegionColumns] = {}  # of shapes, which several kinds share
        for i, held in self._shapes_of_triggers([*distinct]).items():
            found, same = [*compress(range(len(rows)), map(held.__contains__, shapes))], frozenset(held)
            if len(found) > MAX_SERIES_PLACES:
                share = MAX_SERIES_PLACES / len(found)
                found = [row for number, row in enumerate(found, 1) if is_sampled(number, share)]
            if self.triggers[i].before or self.triggers[i].after:
                anchor = -1 - self.trigger_of.index(i)
                line_ends = [*accumulate(map(len, rows))]
                left += ((line_ends[row] + row, anchor) for row in found)
                continue
            columns = columns_of.get(same)
            if columns is None:
                numbers, ends = map(first_line.__add__, found), map(len, map(rows.__getitem__, found))
                columns = RegionColumns(self.source, [*numbers], [*map(texts.__getitem__, found)], [*ends])
                columns_of[same] = columns
            kind = self.triggers[i].kind
            if first_line == 1 and (kind, False) not in self.samples and kind not in self.columns:
                self.columns[kind] = columns
            else:
                self._sample(i, first_line > 1).extend(columns)
        return sorted(left)

    def _shapes_of_triggers(self, shapes: Sequence[bytes]) -> dict[int, set[bytes]]:
        """For each trigger that has any, those of `shapes` in which one of its anchors stands: no anchor has a digit."""
        joined = b"\n".join((b"", *shapes, b""))
        ends = [*accumulate(len(shape) + 1 for shape in (b"", *shapes))]
        found: dict[int, set[bytes]] = {}
        for to, anchor in self.find(joined):
            found.setdefault(self.trigger_of[-1 - anchor], set()).add(shapes[bisect_left(ends, to) - 1])
        return found

    def _feed_places(self, chunk: Chunk, places: Sequence[tuple[int, int]], first_line: int, line_ends: int) -> None:
        """As feed(), for lines of any kind."""
        data = chunk.data
        samples: dict[int, EvenSample[Region]] = {}
        numbers = LineNumbers(data, first_line, line_ends)
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

    def regions(self) -> Iterator[tuple[str, Sequence[Region]]]:
        """The kind and the regions of each sample, those of the first chunk first."""
        yield from self.columns.items()
        yield from ((kind, tuple(sample.kept)) for (kind, _), sample in self.samples.items())
