"""A rank that comes late to almost every call: how late, and since which call.

no. 41 to 60 of group 0: rank 2 came 0.35 s after the others in all 20, the second latest 0.01 s      -> late since no. 41
"""

from itertools import pairwise

from msgspec import Struct

from forensics.ranks.case import RankCase

MIN_ROUNDS = 8  # chosen by hand: calls that a rank must have been late to, one after the other, up to the last
MIN_LATE_SHARE = 0.9  # of these calls; where calls follow each other closely, one of two may wait for nobody
MIN_LATE_PART = 0.3  # of the time between two calls: less is the ordinary difference between ranks
MIN_TIMES_LATER = 4.0  # than the second latest rank
MAX_TIMES = 200_000  # of calls of a group that are compared: of 1,024 ranks the last 195, of 64 ranks more than 2,000
MIN_CALLS = 64  # of each rank, however many there are
MIN_LATE_S = 0.02  # chosen by hand: less is the time that a program needs to call


class Late(Struct, frozen=True):
    """`rank` is late by `late_s` (the median) in the calls of `group` since `since`, `rounds` of them."""

    rank: int
    group: str
    late_s: float
    since: int
    rounds: int


def latest_rank(case: RankCase) -> Late | None:
    """The rank that keeps all others waiting in a run that goes on; None if none is late by far."""
    found = [late for name in case.groups if (late := _in_group(case, name))]
    return max(found, key=lambda late: (late.rounds, late.late_s), default=None)


def _in_group(case: RankCase, name: str) -> Late | None:
    calls = case.groups[name]
    if len(calls) < 2 or len(calls) < len(case.members[name]) or not all(len(g.seqs) for g in calls.values()):
        return None
    kept = max(MIN_CALLS, MAX_TIMES // len(calls))
    times = {rank: dict(zip(g.seqs[-kept:], g.created_ns[-kept:], strict=True)) for rank, g in calls.items()}
    common = sorted(set.intersection(*(set(t) for t in times.values())))
    if len(common) < MIN_ROUNDS:
        return None
    ranks = sorted(times)
    came = {seq: [times[r][seq] for r in ranks] for seq in common}
    first, last = ({seq: pick(column) for seq, column in came.items()} for pick in (min, max))
    gaps = {seq: (first[seq] - last[before]) / 1e9 for before, seq in pairwise(common)}  # from all there to the first one again
    rounds = [seq for seq in common[1:] if gaps[seq] > MIN_LATE_S]
    return _run_of(name, ranks, rounds, {seq: _lateness(came[seq]) for seq in rounds}, gaps)


def _lateness(created: list[int]) -> list[float]:
    """By how much each rank came after the earliest of the others, in seconds; negative for the earliest itself."""
    ordered = sorted(created)
    return [(own - (ordered[1] if own == ordered[0] else ordered[0])) / 1e9 for own in created]


def _run_of(
    name: str, ranks: list[int], seqs: list[int], lateness: dict[int, list[float]], gaps: dict[int, float]
) -> Late | None:
    """The rank that came last by far in the last rounds. Calls that follow another one at once are no rounds of their own."""
    last: list[int] = []
    for seq in seqs:
        by_rank = lateness[seq]
        at = max(range(len(ranks)), key=by_rank.__getitem__)
        second = max((s for i, s in enumerate(by_rank) if i != at), default=0.0)
        is_late = by_rank[at] > max(MIN_LATE_S, MIN_TIMES_LATER * second, MIN_LATE_PART * gaps[seq])
        last.append(at if is_late else -1)
    for index in sorted({*last} - {-1}):
        start = _start(last, index)
        rounds = [s for s, who in zip(seqs[start:], last[start:], strict=True) if who == index]
        if len(rounds) >= MIN_ROUNDS:
            from statistics import median  # takes 7 ms at each start

            return Late(ranks[index], name, median(lateness[s][index] for s in rounds), rounds[0], len(rounds))
    return None


def _start(last: list[int], index: int) -> int:
    """From where on to the end this rank is the late one in almost all rounds."""
    hits, best = 0, len(last)
    for back, who in enumerate(reversed(last), 1):
        hits += who == index
        if who == index and hits >= MIN_LATE_SHARE * back:
            best = len(last) - back
    return best
