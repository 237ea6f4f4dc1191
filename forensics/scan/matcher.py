"""Bytes of a chunk to the places where anchors end: the only pass over all bytes, in C and outside the interpreter's lock.

An anchor that is very common in a chunk is reported at its first and last places there, with its count. Anchors of series are
scanned apart: all of their places in the first chunk of a source, later the first one in each window, which is an even sample.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hyperscan

from forensics.database import Database, compile_anchors

FIRST = 500
LAST = 32
WINDOW_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Found:
    """Places in one chunk, in order: (offset past the anchor's last byte, index of the anchor).

    `places`: of the database's anchors; `counts`: how often each was there, reported or not. `thin`: of the
    anchors of series, as -1, -2, ... for the first, second, ... of `thin_triggers`.
    """

    places: list[tuple[int, int]]
    counts: dict[int, int]
    thin: list[tuple[int, int]]


class Matcher:
    """The compiled anchors of a database, usable from several threads at once."""

    def __init__(self, database: Database) -> None:
        self.all = database.matcher
        self.thin_triggers = [(i, a) for i, t in enumerate(database.triggers) if t.thin for a in t.anchors]
        anchors = [a for _, a in self.thin_triggers]
        self.thin_all = compile_anchors(anchors) if anchors else None
        self.thin_one = compile_anchors(anchors, hyperscan.HS_FLAG_SINGLEMATCH) if anchors else None
        self.local = threading.local()

    def find(self, data: bytes, first_chunk: bool) -> Found:
        """Where the anchors end in `data`."""
        places, counts = self._places(data)
        return Found(places, counts, self._thin(data, first_chunk))

    def _places(self, data: bytes) -> tuple[list[tuple[int, int]], dict[int, int]]:
        counts: dict[int, int] = {}
        places: list[tuple[int, int]] = []
        last: dict[int, deque[tuple[int, int]]] = {}

        def seen(anchor: int, _start: int, to: int, _flags: int, _context: Any) -> None:
            count = counts.get(anchor, 0) + 1
            counts[anchor] = count
            if count <= FIRST:
                places.append((to, anchor))
            elif anchor in last:
                last[anchor].append((to, anchor))
            else:
                last[anchor] = deque([(to, anchor)], LAST)

        self.all.scan(data, match_event_handler=seen, scratch=self._scratch("all", self.all))
        for ring in last.values():
            places += ring
        # Hyperscan reports in order of ends; which of several anchors ending at one byte comes first is not promised.
        places.sort()
        return places, counts

    def _thin(self, data: bytes, first_chunk: bool) -> list[tuple[int, int]]:
        if self.thin_all is None or self.thin_one is None:
            return []
        found: list[tuple[int, int]] = []
        offset = 0

        def seen(anchor: int, _start: int, to: int, _flags: int, _context: Any) -> None:
            found.append((offset + to, -1 - anchor))

        if first_chunk:
            self.thin_all.scan(data, match_event_handler=seen, scratch=self._scratch("thin_all", self.thin_all))
        else:
            scratch = self._scratch("thin_one", self.thin_one)
            for offset in range(0, len(data), WINDOW_BYTES):
                self.thin_one.scan(data[offset : offset + WINDOW_BYTES], match_event_handler=seen, scratch=scratch)
        found.sort()
        return found

    def _scratch(self, name: str, matcher: Any) -> Any:
        """A working space of this thread's own for `matcher`; Hyperscan needs one for each scan under way."""
        scratch = getattr(self.local, name, None)
        if scratch is None:
            scratch = hyperscan.Scratch(matcher)
            setattr(self.local, name, scratch)
        return scratch


def last_of_each(places: Sequence[tuple[int, int]], anchors: set[int]) -> list[tuple[int, int]]:
    """`places` with only the last LAST of each of `anchors`, in order."""
    left = dict.fromkeys(anchors, LAST)
    kept: list[tuple[int, int]] = []
    for place in reversed(places):
        if place[1] in left:
            if not left[place[1]]:
                continue
            left[place[1]] -= 1
        kept.append(place)
    kept.reverse()
    return kept
