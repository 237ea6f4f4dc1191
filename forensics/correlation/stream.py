"""Merge all lines of all sources into one timeline, as a stream: only the next entry of each source is in memory.

    dmesg.log:82    2026-11-21T08:23:04+00:00  Memory cgroup out of memory: Killed process 10397 (python3.11)
    jupyter.log:20  2026-11-21T08:23:06.470+00:00  AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports

An entry is a line and the indented lines after it. An entry without a stamp gets the time of the one before it and no
uncertainty: it was written then or later.

Map the level names of all log formats to five: `E`, `err`, `ERROR` -> error; `crit`, `F`, `emerg` -> critical.

Keep members of archives in temporary files for a second reading; without them the archive would be unpacked again for each.

bundle.tar.gz!var/log/kern.log -> its text in a temporary file, written while it is first read

The files have no names, so nothing of them remains if the process is killed.
"""

import heapq
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.text import last_frame
from forensics.correlation.clock_alignment import EARLIEST_TIME
from forensics.correlation.clock_inference import infer_clock
from forensics.correlation.timestamp_resolver import WALL, Clock, TimestampResolver
from forensics.line_formats import parse_prefix
from forensics.line_formats.common_label import label_prefix
from forensics.model import Line, Observation, Scan, Source, Warn, Warning
from forensics.readers.stamps.clock_samples import ClockSample, clock_sample, clock_samples, needed_samples, printed_dates

LEVEL_NAMES = ("debug", "info", "warning", "error", "critical")
_WORDS = {
    "debug": ("d", "debug", "trace", "debug1", "debug2", "debug3", "verbose"),
    "info": ("i", "info", "notice", "normal"),
    "warning": ("w", "warn", "warning"),
    "error": ("e", "err", "error"),
    "critical": ("c", "f", "crit", "critical", "fatal", "alert", "emerg", "panic"),
}
_LEVEL_OF_WORD = {word: name for name, words in _WORDS.items() for word in words}


def parse_level(word: str | None) -> str | None:
    """One of LEVEL_NAMES; None for a word that is no level."""
    return _LEVEL_OF_WORD.get(word.lower()) if word else None


def at_least(word: str | None, least: str) -> bool:
    """Is `word`, one of LEVEL_NAMES or None, at least as severe as `least`?"""
    return word is not None and LEVEL_NAMES.index(word) >= LEVEL_NAMES.index(least)


MAX_ENTRY_LINES = 200  # bounds memory
MAX_LINE_BYTES = 1 << 20  # a longer line is no line of a log; it is in memory until its end is found


class Entry(Struct, frozen=True):
    """One entry of the timeline. `line`: its number in the original file. `uptime_s`: seconds since boot, if known."""

    time: datetime | None
    uncertainty_s: float | None
    lane: str
    source: str
    line: int
    text: str
    uptime_s: float | None = None
    level: str | None = None
    host: str | None = None
    rank: int | None = None
    event: str | None = None


def numbered_lines(source: Source, warn: Warn) -> Iterator[Line]:
    """The lines of a source with their numbers in it; of a very long line the end is kept."""
    number, carry = 1, b""
    for block in source.blocks(warn):
        rows = (carry + block).split(b"\n")
        carry = rows.pop()
        for row in rows:
            yield Line(number, last_frame(row))
            number += 1
        if len(carry) > MAX_LINE_BYTES:
            carry = carry[-MAX_LINE_BYTES:]
    if carry:
        yield Line(number, last_frame(carry))


def full_clock(scan: Scan, others: list[datetime], warn: Warn, events: Iterable[Observation] = ()) -> Clock:
    """The clock of a source as `infer_clock` makes it, from all of its lines if those of the scan may lack a boot or a
    midnight."""
    known, source = clock_samples(scan, events), scan.source
    if any(m.stamp and (m.stamp.wall is None or m.stamp.lacks == "date") for m in known):
        known = list(needed_samples(m for m in map(clock_sample, numbered_lines(source, _silent)) if m))
    return infer_clock(source, known, others, warn, printed_dates(scan))


def _silent(_: Warning) -> None:
    """Ignore a warning: it was reported when the source was first read."""


def entries(source: Source, clock: Clock) -> Iterator[Entry]:
    """The entries of one source, oldest first, each with its time by `clock`."""
    given = numbered_lines(source, _silent)
    return _joined(_placed(reversed_lines(given) if clock.backwards else given, source, clock))


def _placed(given: Iterable[Line], source: Source, clock: Clock) -> Iterator[tuple[Entry, bool]]:
    """Each line as an entry, and whether it has a stamp of its own."""
    resolver, label = TimestampResolver(clock, source.name), label_prefix(source.label)
    before: Entry | None = None
    for line in given:
        prefix = parse_prefix(line.text)
        one = clock_sample(line, prefix.stamp)
        placed = resolver.place(one or ClockSample(line.number))
        if (one and one.header) or not line.text.strip() or "journal header" in prefix.formats:
            continue
        time, off, lane, uptime = placed.time, placed.uncertainty_s, placed.lane, placed.uptime_s
        if one is None and before is not None:
            time, off, lane, uptime = before.time, None, before.lane, before.uptime_s
        before = Entry(
            time,
            off,
            lane,
            source.name,
            source.number_of(line.number),
            line.text,
            uptime,
            parse_level(prefix.level),
            prefix.host or label.host,
            prefix.rank if prefix.rank is not None else label.rank,
        )
        yield before, one is not None


def _joined(given: Iterable[tuple[Entry, bool]]) -> Iterator[Entry]:
    """Entries, each with the indented lines after it that have no stamp of their own."""
    held: list[Entry] = []
    for entry, stamped in given:
        if held and not stamped and entry.text[:1] in (" ", "\t") and len(held) < MAX_ENTRY_LINES:
            held.append(entry)
            continue
        if held:
            yield _one(held)
        held = [entry]
    if held:
        yield _one(held)


def _one(held: list[Entry]) -> Entry:
    return replace(held[0], text="\n".join(e.text for e in held)) if len(held) > 1 else held[0]


def reversed_lines(given: Iterable[Line]) -> Iterator[Line]:
    """`given` from the last line to the first. They are kept in a temporary file."""
    import tempfile  # takes some milliseconds of the start

    with tempfile.TemporaryFile() as file:
        ends, numbers = array("Q", [0]), array("Q")
        for line in given:
            ends.append(ends[-1] + file.write(line.text.encode("utf-8", "surrogatepass")))
            numbers.append(line.number)
        for i in range(len(numbers) - 1, -1, -1):
            file.seek(ends[i])
            yield Line(numbers[i], file.read(ends[i + 1] - ends[i]).decode("utf-8", "replace"))


def merge_streams(streams: Sequence[tuple[Clock, Iterator[Entry]]]) -> Iterator[Entry]:
    """The entries of several sources in order of time. The entries of one source keep their order, whatever its clock does. A
    stream is first read when the merge reaches the beginning of its clock, so that not all files are open at once."""
    heap: list[tuple[datetime, int, Entry | None]] = [(c.first or EARLIEST_TIME, i, None) for i, (c, _) in enumerate(streams)]
    heapq.heapify(heap)
    while heap:
        latest, index, entry = heap[0]
        if entry is not None:
            yield entry
        following = next(streams[index][1], None)
        if following is None:
            heapq.heappop(heap)
            continue
        if following.lane == WALL and following.time:
            latest = max(latest, following.time) if entry is not None else following.time
        heapq.heapreplace(heap, (latest, index, following))


BLOCK_BYTES = 1 << 20  # read and written at once; fits in the processor's cache


def spool(source: Source) -> Source:
    """`source`; its first complete reading keeps the text, and later readings use that. Plain files stay as they are."""
    if "!" not in source.name:
        return source
    kept: IO[bytes] | None = None

    def blocks(warn: Warn) -> Iterator[bytes]:
        nonlocal kept
        if kept is not None:
            place = 0
            while kept.seek(place) == place and (block := kept.read(BLOCK_BYTES)):
                place += len(block)
                yield block
            return
        import tempfile  # few inputs are archives, and it takes some milliseconds of the start

        written = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the source
        for block in source.blocks(warn):
            written.write(block)
            yield block
        kept = written

    return replace(source, blocks=blocks)
