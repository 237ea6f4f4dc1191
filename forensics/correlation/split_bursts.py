"""Split a folded message with long pauses between its lines into several events, one for each burst.

line 12, 03 Nov 10:00, and line 907, 05 Nov 09:12: "slurmstepd: error: Detected 1 oom-kill event(s)"  ->  two events
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof, Stamp

# Chosen by hand: longer than a checkpoint or an evaluation takes, shorter than the time until the next day's run.
MIN_BURST_PAUSE_S = 7200.0


def split_bursts(events: Iterable[Observation]) -> Iterator[Observation]:
    """`events`; those of several lines are split where two stamps are more than MIN_BURST_PAUSE_S apart.

    Each part gets the count of its own lines; the last part also gets lines that were counted and not kept.
    """
    for event in events:
        parts = _parts(event) if event.count > 1 and len(event.proofs) > 1 and event.stamp else []
        if len(parts) < 2:
            yield event
            continue
        left = event.count
        for i, (stamp, proofs) in enumerate(parts):
            count = left if i == len(parts) - 1 else min(len(proofs), left - 1)
            left -= count
            last = event.last_line if i == len(parts) - 1 else proofs[-1].line
            yield replace(event, line=proofs[0].line, last_line=last, proofs=tuple(proofs), count=max(1, count), stamp=stamp)


def _parts(event: Observation) -> list[tuple[Stamp | None, list[Proof]]]:
    parts: list[tuple[Stamp | None, list[Proof]]] = []
    latest: Stamp | None = None
    for proof in sorted(event.proofs, key=lambda p: p.line):
        stamp = parse_prefix(proof.text).stamp
        if not parts:
            parts.append((event.stamp, [proof]))
        elif stamp and latest and stamp_distance_s(latest, stamp) > MIN_BURST_PAUSE_S:
            parts.append((stamp, [proof]))
        else:
            parts[-1][1].append(proof)
        latest = stamp or latest
    return parts


def stamp_distance_s(a: Stamp, b: Stamp) -> float:
    """Seconds between two stamps of one source; 0 if they are of different kinds."""
    if a.wall and b.wall and a.lacks == b.lacks and a.lacks != "date" and (a.wall.tzinfo is None) == (b.wall.tzinfo is None):
        return abs((b.wall - a.wall).total_seconds())
    if a.mono is not None and b.mono is not None:
        return abs(b.mono - a.mono)
    return 0.0
