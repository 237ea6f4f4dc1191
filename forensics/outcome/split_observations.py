"""Split a repeated message where a further attempt begins between its lines: each attempt has an observation of its own.

line 12: KeyError: 'a' / line 40: (a further attempt) / line 52: KeyError: 'a'    count 2  ->  two observations, count 1 each
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model import Observation, Proof


def by_attempt(observation: Observation, starts: Sequence[int]) -> Iterator[Observation]:
    """`observation`, or its parts. `starts`: the numbers of the lines at which further attempts begin, in order.

    Each part gets the count of its own lines; the last part also gets lines that were counted and not kept.
    """
    parts = _parts(observation.proofs, starts) if starts and observation.count > 1 else []
    if len(parts) < 2:
        yield observation
        return
    left = observation.count
    for i, proofs in enumerate(parts):
        last = i == len(parts) - 1
        count = left if last else min(len(proofs), left - 1)
        left -= count
        yield _part(observation, proofs, max(1, count), last)


def _parts(proofs: Sequence[Proof], starts: Sequence[int]) -> list[tuple[Proof, ...]]:
    ordered = sorted(proofs, key=lambda p: p.line)
    return [tuple(own) for _, own in groupby(ordered, key=lambda p: bisect_right(starts, p.line))]


def _part(whole: Observation, proofs: tuple[Proof, ...], count: int, last: bool) -> Observation:
    lines = {p.line for p in proofs}
    own = tuple(o for o in whole.occurrences if o.line in lines)
    first, end = proofs[0].line, whole.last_line if last else proofs[-1].line
    return replace(
        whole,
        line=first,
        last_line=max(first, end),
        proofs=proofs,
        fields=own[0].fields if own else whole.fields,
        count=count,
        stamp=whole.stamp if first == whole.line else parse_prefix(proofs[0].text).stamp,
        occurrences=own if len(own) > 1 else (),
        told_to=whole.told_to if first == whole.line else 0,
    )
