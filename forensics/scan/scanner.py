"""One pass over one Source: anchors by Hyperscan, confirmation by `regex`, regions for records and series."""

from collections import deque
from typing import Any

from forensics.database import Confirmer, Database
from forensics.model import Hit, Line, Region, Scan, Source, Trigger, Warn, Warning
from forensics.scan.chunks import Chunk, chunks
from forensics.scan.fold import Ends, Even, HitFold
from forensics.text import clean, frame_at, line_at

CONTEXT_LINES = 8  # around each hit: for the reader, and to find the stamp of a line that has none
BYTES_A_LINE = 200  # what a neighbouring line may take on average
EDGE_LINES = 60  # at both ends of a source: for its layout and its span of time


def scan(source: Source, database: Database, warn: Warn) -> Scan:
    """Everything that the database's signatures and triggers find in `source`."""
    scanner = _Scanner(source, database, warn)
    for chunk in chunks(source.blocks(warn)):
        scanner.feed(chunk)
    return scanner.result()


class _Scanner:
    def __init__(self, source: Source, database: Database, warn: Warn) -> None:
        self.source, self.database, self.warn = source, database, warn
        self.bytes = self.lines = 0
        self.folds: dict[int, HitFold] = {}
        self.ends: dict[str, Ends[Region]] = {}
        self.evens: dict[str, Even[Region]] = {}
        self.head: list[Line] = []
        self.tail: deque[Line] = deque(maxlen=EDGE_LINES)
        self.slow: set[str] = set()

    def feed(self, chunk: Chunk) -> None:
        """Scan one chunk; line numbers go on from the chunk before."""
        data = chunk.data if chunk.start == 0 and chunk.end == len(chunk.data) else chunk.data[chunk.start : chunk.end]
        found: list[tuple[int, int]] = []
        self.database.matcher.scan(data, match_event_handler=lambda i, _f, to, _flags, _c: found.append((to, i)))
        # Hyperscan reports in order of ends; which of several anchors ending at one byte comes first is not promised.
        found.sort()
        number = self.lines + 1
        counted = start = end = chunk.start
        tested: set[int] = set()
        for to, anchor in found:
            at = chunk.start + to - 1
            if at >= end:  # a line we have not looked at
                start, end = line_at(chunk.data, at)
                number += chunk.data.count(b"\n", counted, start)
                counted = start
                tested.clear()
            self._look(_Place(chunk.data, start, end, at, number), anchor, tested)
        self._edges(data)
        self.bytes += len(data)
        self.lines += data.count(b"\n") + (not data.endswith(b"\n"))

    def _look(self, place: "_Place", anchor: int, tested: set[int]) -> None:
        for i in self.database.signature_ids[anchor]:
            if i not in tested and self._confirm(i, place):
                tested.add(i)
        for i in self.database.trigger_ids[anchor]:
            key = -1 - i
            if key not in tested:
                tested.add(key)
                self._keep(self.database.triggers[i], place)

    def _confirm(self, i: int, place: "_Place") -> bool:
        found = self._search(self.database.confirmers[i], place)
        if found is None:
            return False
        fields = {k: v for k, v in found.groupdict().items() if v is not None}
        fold = self.folds.setdefault(i, HitFold())
        if not fold.again(fields, Line(place.number, place.text())):
            signature = self.database.confirmers[i].signature
            fold.add(
                Hit(
                    source=self.source.name,
                    line=place.number,
                    signature=signature.id,
                    cause=signature.cause,
                    weight=signature.weight,
                    span=found.span(),
                    fields=fields,
                    region=place.region(self.source.name, CONTEXT_LINES, CONTEXT_LINES),
                )
            )
        return True

    def _search(self, confirmer: Confirmer, place: "_Place") -> Any:
        try:
            return confirmer.search(place.text())
        except TimeoutError:
            name = confirmer.signature.id
            if name not in self.slow:
                self.slow.add(name)
                self.warn(Warning("timeout", f"{name} took too long on this line", self.source.name, place.number))
            return None

    def _keep(self, trigger: Trigger, place: "_Place") -> None:
        if trigger.thin:
            even = self.evens.setdefault(trigger.kind, Even())
            if even.wants():
                even.add(place.region(self.source.name, trigger.before, trigger.after))
            return
        ends = self.ends.setdefault(trigger.kind, Ends())
        ends.add(place.region(self.source.name, trigger.before, trigger.after))

    def _edges(self, data: bytes) -> None:
        if len(self.head) < EDGE_LINES:
            for raw in data.split(b"\n", EDGE_LINES)[:EDGE_LINES]:
                self.head.append(Line(len(self.head) + 1, clean(raw[-4096:].rstrip(b"\r"))))
            del self.head[EDGE_LINES:]
        last = self.lines + data.count(b"\n") + (not data.endswith(b"\n"))
        rows = data[-65536:].rstrip(b"\n").split(b"\n")[-EDGE_LINES:]
        for back, raw in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
            self.tail.append(Line(last - back, clean(raw[-4096:].rstrip(b"\r"))))

    def result(self) -> Scan:
        for kind, ends in self.ends.items():
            if ends.dropped:
                self.warn(
                    Warning(
                        "folded", f"{ends.dropped} more {kind} places between the first and last were not read", self.source.name
                    )
                )
        regions: dict[str, Any] = {k: tuple(e.items()) for k, e in self.ends.items()}
        regions |= {k: tuple(e.kept) for k, e in self.evens.items()}
        hits = sorted((h for fold in self.folds.values() for h in fold.hits()), key=lambda h: (h.line, h.span, h.signature))
        return Scan(self.source, self.bytes, self.lines, tuple(hits), regions, tuple(self.head), tuple(self.tail))


class _Place:
    """The byte where an anchor ended and its line; text and region are made when asked for."""

    __slots__ = ("_text", "at", "data", "end", "number", "start")

    def __init__(self, data: bytes, start: int, end: int, at: int, number: int) -> None:
        self.data, self.start, self.end, self.at, self.number = data, start, end, at, number
        self._text: str | None = None

    def text(self) -> str:
        if self._text is None:
            self._text = frame_at(self.data, self.start, self.end, self.at)
        return self._text

    def region(self, source: str, before: int, after: int) -> Region:
        """The line and about as many bytes around it as `before` and `after` lines take."""
        left = max(0, self.start - before * BYTES_A_LINE)
        right = self.end + 1 + after * BYTES_A_LINE
        return Region(
            source=source,
            number=self.number,
            text=self.text(),
            before=self.data[left : self.start] if before else b"",
            after=self.data[self.end + 1 : right] if after else b"",
            most_before=before,
            most_after=after,
        )
