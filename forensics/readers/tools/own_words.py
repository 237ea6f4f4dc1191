"""What the logs of programs tell of themselves: locks that they hold, and lines that they call errors.

Dec 01 04:51:37 nightly-backup: holding exclusive lock /data/INDEX.lock while copying       -> that line
2026-12-01 03:21:13,173 cachegc[5946] took /data/index.lock (exclusive), 5 kernels          -> that line
worker 3: waiting for lock /data/INDEX.lock                                                 -> it holds none
2026-12-01 02:55:13,675 shipper[22212] ERROR upload step45.pt: 507 bucket quota exceeded    -> an error
2026-12-01 15:17:53 ops: paused featd (pid 3368) for compaction                             -> it tells of a hold
"""

from collections.abc import Iterator

from forensics.core.text import last_frames
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Scan, Trigger
from forensics.model.ranks import ProofPlace
from forensics.readers.templates import ignore_warning

MAX_HOLDS_BYTES = 1 << 20  # chosen by hand: the log of a service that tells of each request
LOCKS, ERRORS = TRIGGERS = (Trigger("held_locks", of="held locks"), Trigger("error_levels", of="error levels"))
PATTERNS, LEVEL_PATTERNS, HOLD_PATTERNS = map(patterns_of, ("held locks", "error levels", "told holds"))


def held_locks(scan: Scan) -> tuple[ProofPlace, ...]:
    """The lines of one source that tell of a lock, in order."""
    regions = scan.regions.get(LOCKS.kind, ())
    told = (r.line for r in regions if PATTERNS.held.search(r.text) and not PATTERNS.refused.search(r.text))
    return tuple(_place(scan, line) for line in told)


def error_lines(scan: Scan) -> tuple[ProofPlace, ...]:
    """The lines of one source that it calls errors, in order."""
    regions = scan.regions.get(ERRORS.kind, ())
    return tuple(_place(scan, r.line) for r in regions if LEVEL_PATTERNS.level.search(r.text))


def told_holds(scan: Scan) -> Iterator[ProofPlace]:
    """The lines of one source that tell that a program stopped, failed or keeps something from others; of a long one those at its
    ends."""
    again = b"".join(scan.source.blocks(ignore_warning)) if scan.bytes <= MAX_HOLDS_BYTES else b""
    ends = {line.number: line for line in (*scan.head, *scan.tail)}.values()
    lines = (Line(n, text) for n, text in enumerate(last_frames(again.split(b"\n")), 1)) if again else ends
    yield from (_place(scan, line) for line in lines if HOLD_PATTERNS.held.search(line.text))


def _place(scan: Scan, line: Line) -> ProofPlace:
    return ProofPlace(scan.source.name, scan.source.number_of(line.number), line.text)
