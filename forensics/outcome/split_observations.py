"""Split a repeated message where a further attempt begins between its lines, or a long time passes: each part is an event.

line 12: KeyError: 'a' / line 40: (a further attempt) / line 52: KeyError: 'a'    count 2  ->  two observations, count 1 each
line 12, 03 Nov 10:00, and line 907, 05 Nov 09:12: Detected 1 oom-kill event(s)   count 2  ->  two observations, count 1 each
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof, Stamp
from forensics.model.verdicts import Attempt

# Chosen by hand: longer than a checkpoint or an evaluation takes, shorter than the time until the next day's run.
MIN_PAUSE_S = 7200.0


def split_observation(observation: Observation, attempts: Sequence[Attempt]) -> Iterator[Observation]:
    """`observation`, or its parts, one for each of the `attempts` that shows it, and for each time between long pauses.

    Each part gets the count of its own lines; the last part also gets lines that were counted and not kept.
    """
    if observation.count == 1:
        yield observation
        return
    begun = [later.first_line for one, later in pairwise(attempts) if one.is_another_start(observation)]
    starts = sorted({*begun, *_after_pauses(observation)})
    parts = _parts(observation, starts) if starts else []
    if len(parts) < 2:
        yield observation
        return
    left = observation.count
    for i, proofs in enumerate(parts):
        last = i == len(parts) - 1
        count = left if last else min(len(proofs), left - 1)
        left -= count
        yield _part(observation, proofs, max(1, count), last)


def _after_pauses(observation: Observation) -> Iterator[int]:
    """The lines that were written more than MIN_PAUSE_S after or before the one above them."""
    latest = observation.stamp
    for proof in sorted(observation.proofs, key=lambda p: p.line)[1:] if latest else ():
        stamp = parse_prefix(proof.text).stamp
        gap = stamp.seconds_after(latest) if stamp and latest and latest.lacks != "date" else None
        if gap is not None and abs(gap) > MIN_PAUSE_S:
            yield proof.line
        latest = stamp or latest


def _parts(observation: Observation, starts: Sequence[int]) -> list[tuple[Proof, ...]]:
    """The lines of each part, the message before the frames that are quoted with it."""
    quoted = {n for o in observation.occurrences for n in o.quoted}
    ordered = sorted(observation.proofs, key=lambda p: (bisect_right(starts, p.line), p.line in quoted))
    return [tuple(own) for _, own in groupby(ordered, key=lambda p: bisect_right(starts, p.line))]


def _part(whole: Observation, proofs: tuple[Proof, ...], count: int, last: bool) -> Observation:
    lines = {p.line for p in proofs}
    own = tuple(o for o in whole.occurrences if o.line in lines)
    first, end = proofs[0].line, whole.last_line if last else max(lines)
    return replace(
        whole,
        line=first,
        last_line=max(first, end),
        proofs=proofs,
        fields=own[0].fields if own else whole.fields,
        count=count,
        stamp=_stamp_at(whole, first),
        occurrences=own if len(own) > 1 else (),
        told_to=whole.told_to if first == whole.line else 0,
    )


def _stamp_at(whole: Observation, line: int) -> Stamp | None:
    """The stamp of `line`, or of the nearest of the observation's lines above it."""
    above = sorted((p for p in whole.proofs if whole.line < p.line <= line), key=lambda p: -p.line)
    return next((stamp for p in above if (stamp := parse_prefix(p.text).stamp)), whole.stamp)
