"""Locks that programs hold, as their logs tell it.

Dec 01 04:51:37 nightly-backup: holding exclusive lock /data/INDEX.lock while copying       -> that line
2026-12-01 03:21:13,173 cachegc[5946] took /data/index.lock (exclusive), 5 kernels          -> that line
worker 3: waiting for lock /data/INDEX.lock                                                 -> it holds none
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Scan, Trigger
from forensics.model.ranks import ProofPlace

TRIGGER = Trigger("held_locks", of="held locks")
PATTERNS = patterns_of("held locks")


def held_locks(scan: Scan) -> tuple[ProofPlace, ...]:
    """The lines of one source that tell it, in order."""
    regions = scan.regions.get(TRIGGER.kind, ())
    told = (r.line for r in regions if PATTERNS.held.search(r.text) and not PATTERNS.refused.search(r.text))
    return tuple(ProofPlace(scan.source.name, scan.source.number_of(line.number), line.text) for line in told)
