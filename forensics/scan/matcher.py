"""Bytes of a chunk to the places where anchors end: the only pass over all bytes, in C and outside the interpreter's lock.

An anchor that is very common in a chunk is reported at its first and last places there, with its count. Anchors of series are
scanned apart: all of their places in the first chunk of a source (some thousand), later the first one in each window, then in
each chunk.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import hyperscan
from msgspec import Struct

from forensics.core.sampling import is_sampled
from forensics.core.shapes import MAX_SHAPE_CHARS, MAX_SHAPES, zeroed
from forensics.core.text import line_ends
from forensics.database import Database, whole_anchors
from forensics.scan.frames_of_shapes import SHORT_BYTES, FramesOfShapes

END_CHARS = 3  # chosen by hand: one line in some hundred has the same three letters, and they are found at once
MAX_FIRST_PLACES = 500  # of an anchor in a chunk; more of one message say nothing new, and each is confirmed by its pattern
MAX_LAST_PLACES = 32  # of the same anchor: the last places show how the log ended
MAX_MIDDLE_PLACES = 4  # of an anchor that earlier chunks had often, in a chunk that is not near the end: to see that it goes on
MIN_DENSE_PLACES = 1500  # places in a chunk; of more, the first and last of each anchor are enough
PROBED_REPORTS = 1600  # how early a chunk reaches so many predicts whether it will have MAX_REPORTS
MAX_REPORTS = 12_000  # in a chunk; beyond it, a search for each anchor costs less than a call for each report
MIN_DENSE_BYTES = 1000  # chosen by hand: with a place of series in so many bytes, it is faster to divide the chunk into lines
MAX_SERIES_PLACES = 3000  # places of an anchor of series in a chunk; its lines are sampled anyway
WHOLLY_SCANNED_BYTES = 1 << 20  # a chunk, where no line is longer
WINDOW_BYTES = 256 << 10  # each anchor of numbers is reported once in each: a few places of each in a chunk
GLANCE_BYTES = 32 << 10  # chosen by hand: some 300 lines, among which a program that reports progress does so
WHOLLY_SCANNED_CHUNKS = 64  # of a source; behind them only the start of each chunk is looked at for numbers


class Matches(Struct, frozen=True):
    """Places in one chunk, in order: (offset past the anchor's last byte, index of the anchor).

    `places`: of the database's anchors; `counts`: how often each was there, reported or not. `thin`: of the
    anchors of series, as -1, -2, ... for the first, second, ... of `thin_triggers`; None for so many that the chunk is better
    divided into lines. `line_ends`: how many the chunk has. `reports`: how often Hyperscan called back, which needs the
    interpreter's lock.
    """

    places: list[tuple[int, int]]
    counts: dict[int, int]
    thin: list[tuple[int, int]] | None
    line_ends: int
    reports: int = 0


Callers = tuple[tuple[int, tuple[str, ...]], ...]  # signatures, each with the texts of which one must stand in the line, too


def called(callers: Callers, folded: str) -> list[int]:
    """Those of the signatures `callers` of which a text stands in the line, or that need none."""
    stands = folded.__contains__
    return [i for i, needed in callers if not needed or any(map(stands, needed))]


def called_in_long(callers: Callers, folded: str, ends: Set[tuple[str, ...]]) -> list[int]:
    """called() for a line in which each search takes long. `ends`: all of its sequences of END_CHARS characters."""
    return [i for i, needed in callers if not needed or any(tuple(t[-END_CHARS:]) in ends and t in folded for t in needed)]


class Matcher:
    """The compiled anchors of a database, usable from several threads at once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.all = database.matcher
        self.thin_triggers = [(i, a) for i, t in enumerate(database.triggers) if t.thin for a in t.anchors]
        self.frames = FramesOfShapes(self.thin_triggers, self.series_places)
        self.thin_all, self.thin_one = database.thin_matchers or (None, None)
        self.anchors, self.literals = database.anchors, database.literals
        self.trigger_anchors = [tuple(a.lower().strip("\n") for a in t.anchors) for t in database.triggers]  # as in their lines
        self.callers: dict[int, tuple[Callers, Callers]] = {}  # by anchor: those that need no digits, and those that do
        self.called_in: dict[tuple[int, bytes], tuple[int, ...]] = {}  # by anchor and shape of line
        self.ends_of_line: tuple[str, Set[tuple[str, ...]]] = "", frozenset()  # of the long line that was last looked at
        self.lock = threading.Lock()
        self.local = threading.local()

    def called_by(self, anchor: int, folded: str) -> Sequence[int]:
        """The signatures that `anchor` calls for in a line: it may be a part of what a signature needs. What has no digits is
        looked for once for all lines of a shape: `invalid` calls for a hundred signatures."""
        without, asking = self._callers_of(anchor)
        if len(folded) > MAX_SHAPE_CHARS:
            ends = self._ends_of(folded)
            return [*called_in_long(without, folded, ends), *called_in_long(asking, folded, ends)]
        line = anchor, zeroed(folded)
        found = self.called_in.get(line)
        if found is None:
            if len(self.called_in) >= MAX_SHAPES:
                self.called_in.clear()
            found = self.called_in[line] = tuple(called(without, folded))
        return [*found, *called(asking, folded)] if asking else found

    def _ends_of(self, folded: str) -> Set[tuple[str, ...]]:
        line, ends = self.ends_of_line
        if line is not folded:
            ends = set(zip(folded, folded[1:], folded[2:], strict=False))
            self.ends_of_line = folded, ends
        return ends

    def _callers_of(self, anchor: int) -> tuple[Callers, Callers]:
        if anchor not in self.callers:
            own = [(i, self.database.confirmers[i].anchors) for i in self.database.signature_ids[anchor]]
            needed = [(i, () if self.anchors[anchor] in texts else texts) for i, texts in own]
            asking = tuple(one for one in needed if any(c.isdigit() for text in one[1] for c in text))
            self.callers[anchor] = tuple(one for one in needed if one not in asking), asking
        return self.callers[anchor]

    def find(self, data: bytes, number: int) -> Matches:
        """Where the anchors end in `data`, the chunk `number` of its source, counted from 0."""
        reported: list[tuple[int, int]] = []
        places, counts = self._places(data, reported)
        thin = self._thin(data, number)
        return Matches(places, counts, thin, line_ends(data), len(reported) + len(thin or ()))

    def _places(self, data: bytes, reported: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """The places and how often each anchor is there; `reported` takes what Hyperscan reports."""

        def seen(anchor: int, _start: int, to: int, _flags: int, _context: Any) -> bool:
            reported.append((to, anchor))
            count = len(reported)
            return to * MAX_REPORTS < len(data) * PROBED_REPORTS if count == PROBED_REPORTS else count > MAX_REPORTS

        try:
            self.all.scan(data, match_event_handler=seen, scratch=self._scratch("all", self.all))
        except hyperscan.ScanTerminated:
            return self._flooded(data)
        places = whole_anchors(data, reported, self.literals)
        places.sort()  # reported were the ends of what is looked for, not those of anchors
        counts = dict(Counter(anchor for _, anchor in places))
        return (first_and_last(places, counts) if len(places) > MIN_DENSE_PLACES else places), counts

    def _flooded(self, data: bytes) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """As `_places`, for a chunk with more reports: find which anchors it has, then count each without a call per place."""
        present: list[int] = []
        with self.lock:
            once = self.database.once()
        once.scan(data, match_event_handler=lambda literal, *_: present.append(literal), scratch=self._scratch("once", once))
        folded = data.lower()  # of ASCII only, as Hyperscan folds
        counts: dict[int, int] = {}
        places: list[tuple[int, int]] = []
        for anchor in (anchor for literal in present for anchor, _ in self.literals[literal]):
            text = self.anchors[anchor].encode()
            count = folded.count(text)
            if not count:  # the matcher looks for a part of the anchor, and only that part is there
                continue
            counts[anchor] = count
            forth = _ends(folded, text, MAX_FIRST_PLACES)
            back = _ends_from_behind(folded, text, MAX_LAST_PLACES) if count > MAX_FIRST_PLACES else ()
            places += ((to, anchor) for to in dict.fromkeys((*forth, *back)))
        places.sort()
        return places, counts

    def _thin(self, data: bytes, number: int) -> list[tuple[int, int]] | None:
        if self.thin_all is None or self.thin_one is None:
            return []
        if number == 0 and len(data) <= SHORT_BYTES:
            return None
        found: list[tuple[int, int]] = []
        begin = offset = 0
        if number == 0:
            most = len(data) // MIN_DENSE_BYTES if len(data) <= WHOLLY_SCANNED_BYTES else None
            try:
                found = even_sample(self.series_places(data[:WHOLLY_SCANNED_BYTES], most))
            except hyperscan.ScanTerminated:
                return None
            begin = WHOLLY_SCANNED_BYTES

        def seen(anchor: int, _start: int, to: int, _flags: int, _context: Any) -> None:
            found.append((offset + to, -1 - anchor))

        scratch = self._scratch("thin_one", self.thin_one)
        size, end = (WINDOW_BYTES, len(data)) if number < WHOLLY_SCANNED_CHUNKS else (GLANCE_BYTES, 1)
        for offset in range(begin, end, size):
            self.thin_one.scan(data[offset : offset + size], match_event_handler=seen, scratch=scratch)
        found.sort()
        return found

    def series_places(self, data: bytes, most: int | None = None) -> list[tuple[int, int]]:
        """All places of the anchors of series in `data`, as in Matches. Raises ScanTerminated if there are more than `most`."""
        found: list[tuple[int, int]] = []

        def seen(anchor: int, _start: int, to: int, _flags: int, _context: Any) -> bool:
            found.append((to, -1 - anchor))
            return most is not None and len(found) > most

        self.thin_all.scan(data, match_event_handler=seen, scratch=self._scratch("thin_all", self.thin_all))
        return found

    def _scratch(self, name: str, matcher: Any) -> Any:
        """A working space of this thread's own for `matcher`; Hyperscan needs one for each scan under way."""
        scratch = getattr(self.local, name, None)
        if scratch is None:
            scratch = hyperscan.Scratch(matcher)
            setattr(self.local, name, scratch)
        return scratch


_last: list[Matcher] = []


def matcher_of(database: Database) -> Matcher:
    """The Matcher of `database`; that of the last one is kept, and with it each thread's working space."""
    if not _last or _last[0].database is not database:
        _last[:] = [Matcher(database)]
    return _last[0]


def first_and_last(places: Sequence[tuple[int, int]], counts: Mapping[int, int]) -> list[tuple[int, int]]:
    """`places` with only the first and last of each anchor, which stands there `counts` times, in order."""
    seen = dict.fromkeys(counts, 0)
    kept: list[tuple[int, int]] = []
    for place in places:
        seen[place[1]] += 1
        if seen[place[1]] <= MAX_FIRST_PLACES or seen[place[1]] > counts[place[1]] - MAX_LAST_PLACES:
            kept.append(place)
    return kept


def last_of_each(places: Sequence[tuple[int, int]], anchors: set[int], most: int) -> list[tuple[int, int]]:
    """`places` with only the last `most` of each of `anchors`, in order."""
    left = dict.fromkeys(anchors, most)
    kept: list[tuple[int, int]] = []
    for place in reversed(places):
        if place[1] in left:
            if not left[place[1]]:
                continue
            left[place[1]] -= 1
        kept.append(place)
    kept.reverse()
    return kept


def even_sample(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """`places` with about MAX_SERIES_PLACES of each anchor at most."""
    if len(places) <= MAX_SERIES_PLACES:
        return list(places)
    counts = Counter(anchor for _, anchor in places)
    shares = {anchor: min(1.0, MAX_SERIES_PLACES / count) for anchor, count in counts.items()}
    seen = dict.fromkeys(shares, 0)
    kept: list[tuple[int, int]] = []
    for place in places:
        seen[place[1]] += 1
        if is_sampled(seen[place[1]], shares[place[1]]):
            kept.append(place)
    return kept


def _ends(data: bytes, text: bytes, most: int) -> Iterator[int]:
    """Offsets past the first `most` places of `text`."""
    at = data.find(text)
    for _ in range(most):
        if at < 0:
            return
        yield at + len(text)
        at = data.find(text, at + 1)


def _ends_from_behind(data: bytes, text: bytes, most: int) -> Iterator[int]:
    """Offsets past the last `most` places of `text`."""
    at = data.rfind(text)
    for _ in range(most):
        if at < 0:
            return
        yield at + len(text)
        at = data.rfind(text, 0, at + len(text) - 1)
