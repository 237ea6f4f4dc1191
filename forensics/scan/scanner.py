"""One pass over one Source: places from the matcher, lines confirmed by `regex`, regions for records and series.

Chunks come in order, so the answer does not depend on how many threads match them.
"""

from collections.abc import Sequence
from typing import Any

from forensics.core import limits
from forensics.core.input_time import Share
from forensics.core.shapes import indented
from forensics.core.text import CUT, decode_line, decode_rest, printable
from forensics.database import HEALTHY, Allowance, Database
from forensics.database.confirm import Found
from forensics.model import Hit, Line, Region, Scan, Source, Trigger, Warn, Warning
from forensics.scan.budget import Budget
from forensics.scan.chunks import Chunk, chunks
from forensics.scan.fold import FirstAndLast, HitFold
from forensics.scan.in_time import LeftOut
from forensics.scan.matcher import (
    MAX_FIRST_PLACES,
    MAX_LAST_PLACES,
    MAX_MIDDLE_PLACES,
    Matcher,
    Matches,
    last_of_each,
    matcher_of,
)
from forensics.scan.number_lines import NumberLines
from forensics.scan.place import AnchorPlace, LineNumbers
from forensics.scan.sample import LineSample
from forensics.scan.workers import Workers, match_chunks

CONTEXT_LINES = 8  # around each hit: for the reader, and to find the stamp of a line that has none
EDGE_LINES = 60  # at both ends of a source: for its layout and its span of time
EDGE_BYTES = 4096  # of each of them, as much as most screens show of a line
COUNTED_BYTES = 16 << 20  # of a source, in which records and continuation lines are counted


def scan(
    source: Source,
    database: Database,
    warn: Warn,
    matcher: Matcher | None = None,
    workers: Workers | None = None,
    share: Share | None = None,
) -> Scan:
    """Everything that the database's signatures and triggers find in `source`.

    `matcher`: made from `database` once for many sources. `workers`: threads to match chunks in; without them it happens in turn.
    `share`: the processor time for this source.
    """
    matcher = matcher or matcher_of(database)
    scanner = _Scanner(source, database, matcher, warn)
    try:
        for chunk, found in match_chunks(chunks(source.blocks(warn), share), matcher, workers, share):
            if chunk.left_out and share:
                scanner.leave_out(chunk.left_out, share)
            scanner.feed(chunk, found)
    except BaseException as stop:  # Ctrl-C, for one
        stop.add_note(f"{scanner.lines:,} lines ({scanner.bytes:,} bytes) of {printable(source.name)}")
        raise
    return scanner.result()


def _ends(rows: Sequence[bytes]) -> Sequence[str]:
    """The texts of `rows`, the end of each if it is long; decoded together where that is possible."""
    joined = b"\n".join(rows)
    if joined.isascii() and b"\x1b" not in joined and max(map(len, rows), default=0) <= EDGE_BYTES:
        texts = joined.decode("ascii").split("\n") if rows else []
        return [text.rstrip("\r") for text in texts] if b"\r" in joined else texts
    return [_end(raw.rstrip(b"\r")) for raw in rows]


def _end(raw: bytes) -> str:
    return decode_line(raw) if len(raw) <= EDGE_BYTES else decode_rest(raw[-EDGE_BYTES:])


class _Text:
    """The text at a place, and what was called for in it. `called`: signatures, each with the anchor that did; `anchors`: all
    that were looked at; `found`: what was found in the line of the text, signatures from 0 on, triggers below."""

    __slots__ = ("anchors", "called", "found", "place")

    def __init__(self, place: AnchorPlace, found: set[int]) -> None:
        self.place, self.found = place, found
        self.anchors: set[int] = set()
        self.called: dict[int, int] = {}


class _Scanner:
    def __init__(self, source: Source, database: Database, matcher: Matcher, warn: Warn) -> None:
        self.source, self.database, self.matcher, self.warn = source, database, matcher, warn
        self.bytes = self.lines = self.continued = 0
        self.folds: dict[int, HitFold] = {}
        self.ends: dict[str, FirstAndLast[Region]] = {}
        self.numbers = NumberLines(source.name, database.triggers, matcher.frames)
        self.seen: dict[int, int] = {}  # places of each anchor so far
        self.tried: dict[int, int] = {}  # those of them whose line was tested
        self.confirmed: dict[tuple[int, int], int] = {}  # by anchor and signature: those of them that the signature confirmed
        self.head: list[Line] = []
        self.tail: bytes = b""
        self.is_line_open = False  # the last line counted goes on in the next chunk: it is longer than a chunk
        self.sample = LineSample()
        self.budget = Budget()

    def feed(self, chunk: Chunk, found: Matches) -> None:
        """Confirm the places that were found in one chunk. Line numbers continue from the previous chunk."""
        data = chunk.data
        if chunk.left_out and not data:  # up to the end
            return
        start = end = 0
        self.lines -= self.is_line_open
        numbers = LineNumbers(data, self.lines + 1, found.line_ends)
        found_here: set[int] = set()
        text: _Text | None = None
        self.budget.begin_round(len(data))
        for to, anchor in self._places(found, self._is_near_end(chunk)):
            at = to - 1
            if at >= end:  # a line we have not looked at
                start = data.rfind(b"\n", start, at) + 1 or start
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                self._confirm_all(text)
                found_here, text = set(), None
            if text is None or at >= text.place.covered:
                self._confirm_all(text)
                text = _Text(AnchorPlace(chunk, start, end, at, numbers, end), found_here)
            self._look(text, anchor)
        self._confirm_all(text)
        self.numbers.feed(chunk, found.thin, self.lines + 1, found.line_ends)
        self._count(data, found)

    def leave_out(self, gap: LeftOut, share: Share) -> None:
        """Go on behind lines that were not read."""
        if gap.lines or gap.to_end:
            self.warn(Warning("limit" if gap.to_end else "skipped", gap.told(share), self.source.name, self.lines + 1))
        self.lines += gap.lines
        self.bytes += gap.bytes
        self.tail, self.is_line_open = b"", False
        self.sample.skip()

    def _count(self, data: bytes, found: Matches) -> None:
        """Keep what the ends and the sample need of a chunk, and count its lines and bytes."""
        self._edges(data)
        self.sample.feed(data, self.lines + 1)
        if self.bytes < COUNTED_BYTES:  # two passes that a large log can do without
            self.continued += indented(data)
        self.bytes += len(data)
        self.is_line_open = not data.endswith(b"\n")
        self.lines += found.line_ends + self.is_line_open

    def _is_near_end(self, chunk: Chunk) -> bool:
        """Is `chunk` the last one or the one before it, as far as their sizes tell?"""
        return len(chunk.after) < len(chunk.data) // 2

    def _places(self, found: Matches, near_end: bool) -> list[tuple[int, int]]:
        """The places to look at, in order; of an anchor that was seen often, only the last ones. They are counted."""
        common = {a for a in found.counts if self.seen.get(a, 0) > MAX_FIRST_PLACES}
        most = MAX_LAST_PLACES if near_end else MAX_MIDDLE_PLACES
        places = last_of_each(found.places, common, most) if common else found.places
        for anchor, count in found.counts.items():
            self.seen[anchor] = self.seen.get(anchor, 0) + count
        return places

    def _look(self, text: _Text, anchor: int) -> None:
        """Note which signatures `anchor` calls for in `text`, and keep the regions of its triggers."""
        self.tried[anchor] = self.tried.get(anchor, 0) + 1
        if anchor in text.anchors:
            return
        text.anchors.add(anchor)
        stands = text.place.folded().__contains__
        for i in self.matcher.called_by(anchor, text.place.folded()):
            if i not in text.called and i not in text.found:
                text.called[i] = anchor
        for i in self.database.trigger_ids[anchor]:
            if -1 - i not in text.found and any(map(stands, self.matcher.trigger_anchors[i])):
                text.found.add(-1 - i)
                self._keep(self.database.triggers[i], text.place)

    def _confirm_all(self, text: _Text | None) -> None:
        """Search for the signatures that were called for in `text`, each once, while there is time for it."""
        if text is None or not text.called:
            return
        place, called, budget = text.place, list(text.called), self.budget
        half, left = budget.half(place.text()), limits.current.line_confirm
        confirmed: dict[int, Found] = {}
        if half is budget.long:  # its patterns may take long, the cheap ones first
            called.sort(key=half.mean)
        for i in called:
            given = min(left, half.allowed(i))
            if given <= 0:
                budget.leave_out(i, place.number)
                continue
            allowance = Allowance(given, budget.clock)
            if found := self._confirm(i, text, allowance):
                confirmed[i] = found
            half.spend(i, given - allowance.left)
            left -= given - allowance.left
        noise = [f.span for i, f in confirmed.items() if self.database.confirmers[i].signature.cause == HEALTHY]
        for i, found in confirmed.items():
            self._fold(i, text, found, any(a < found.span[1] and found.span[0] < b for a, b in noise))

    def _confirm(self, i: int, text: _Text, allowance: Allowance) -> Found | None:
        try:
            return self.database.confirmers[i].search(text.place.text(), allowance)
        except TimeoutError:
            self.budget.leave_out(i, text.place.number)
            return None

    def _fold(self, i: int, text: _Text, found: Found, in_noise: bool) -> None:
        """Keep what was confirmed. `in_noise`: a healthy message overlaps it."""
        place, signature = text.place, self.database.confirmers[i].signature
        text.found.add(i)
        key = text.called[i], i
        self.confirmed[key] = self.confirmed.get(key, 0) + 1
        fields, silenced = found.fields, in_noise and signature.cause != HEALTHY
        fold = self.folds.setdefault(i, HitFold())
        if not fold.count_repeat(fields, Line(place.number, place.text()), silenced):
            fold.add(
                Hit(
                    source=self.source.name,
                    line=place.number,
                    signature=signature.id,
                    cause=signature.cause,
                    weight=signature.weight,
                    span=found.span,
                    fields=fields,
                    region=place.region(self.source.name, CONTEXT_LINES, CONTEXT_LINES),
                    ends=signature.ends,
                    scope=signature.scope,
                    silenced=silenced,
                )
            )

    def _keep(self, trigger: Trigger, place: AnchorPlace) -> None:
        ends = self.ends.setdefault(trigger.kind, FirstAndLast())
        ends.add(place.region(self.source.name, trigger.before, trigger.after))

    def _edges(self, data: bytes) -> None:
        if len(self.head) == self.lines < EDGE_LINES:  # all lines so far
            rows = data[: EDGE_LINES * EDGE_BYTES].split(b"\n", EDGE_LINES - self.lines)
            if len(rows) > EDGE_LINES - self.lines or not rows[-1]:  # the rest, or nothing behind the last line end
                rows.pop()
            self.head += map(Line, range(self.lines + 1, self.lines + len(rows) + 1), _ends(rows))
        self.tail = self.tail[-(64 << 10) :] + data if len(data) < 64 << 10 else data[-(64 << 10) :]

    def result(self) -> Scan:
        """The finished Scan; hits that were passed over because they are so frequent are counted."""
        self._count_the_rest()
        self._tell_left_out()
        for kind, ends in self.ends.items():
            if ends.dropped:
                message = (
                    f"{ends.dropped} more places of the kind {kind} lie between the first and the last ones and were not read"
                )
                self.warn(Warning("folded", message, self.source.name))
        regions: dict[str, Any] = {k: tuple(e.items()) for k, e in self.ends.items()}
        for kind, kept in self.numbers.regions():
            regions[kind] = (*regions[kind], *kept) if kind in regions else kept
        hits = sorted((h for fold in self.folds.values() for h in fold.hits()), key=lambda h: (h.line, h.span, h.signature))
        totals = {k: e.total for k, e in self.ends.items()}
        head = tuple(self.head)
        return Scan(
            self.source,
            self.bytes,
            self.lines,
            tuple(hits),
            regions,
            head,
            head if self.lines == len(head) and self.bytes <= EDGE_LINES * EDGE_BYTES else self._last_lines(),
            totals,
            self.continued,
            self.sample.blocks(self.lines),
        )

    def _tell_left_out(self) -> None:
        budget = self.budget
        if budget.left_out:
            most = sorted(budget.left_out, key=lambda i: -budget.left_out[i])
            names = [self.database.confirmers[i].signature.id for i in most]
            self.warn(Warning("timeout", budget.told(names), self.source.name, budget.first))

    def _last_lines(self) -> tuple[Line, ...]:
        known = self.head if self.bytes <= EDGE_LINES * EDGE_BYTES else []  # of a short source, the ends share lines
        if self.lines <= len(known):
            return tuple(known[: self.lines])
        kept = self.tail.removesuffix(b"\n").split(b"\n") if self.lines else []
        rows = kept[-EDGE_LINES:]
        first = self.lines - len(rows) + 1
        shared = known[first - 1 :]
        texts = _ends(rows[len(shared) :])
        if len(rows) == len(kept) and not shared and len(self.tail) < self.bytes and not texts[0].startswith(CUT):
            texts = [CUT + texts[0], *texts[1:]]
        return (*shared, *map(Line, range(first + len(shared), first + len(rows)), texts))

    def _count_the_rest(self) -> None:
        """Estimate the hits at places that were not tested from the share of tested places that were confirmed."""
        for anchor, seen in self.seen.items():
            tried = self.tried.get(anchor, 0)
            if seen == tried:
                continue
            for i in self.database.signature_ids[anchor]:
                share = self.confirmed.get((anchor, i), 0) / tried
                if share:
                    self.folds[i].more += round((seen - tried) * share)
            for i in self.database.trigger_ids[anchor]:
                if self.database.triggers[i].kind in self.ends:
                    self.ends[self.database.triggers[i].kind].more(seen - tried)
