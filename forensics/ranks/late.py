"""A rank that comes late again and again, and no other one: how late, and since which call.

no. 41 to 60 of group 0: rank 2 came 0.35 s after the others in all 20, the second latest 0.01 s      -> late since no. 41
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from math import ceil, log
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct, structs

from forensics.core.averages import median
from forensics.model.dumps import GroupCalls
from forensics.ranks.case import RankCase

MAX_CHANCE = 0.01  # chosen by hand: that one of the ranks comes last to all those calls without a reason
MIN_ROUNDS = 3  # calls that a rank must have been late to, however many ranks there are
MIN_LATE_SHARE = 0.9  # of the calls to which any rank was late
MIN_LATE_PART = 0.3  # of the other time, in one call and in all: less is the ordinary difference between ranks
MIN_TIMES_LATER = 4.0  # than the second latest rank
MAX_TIMES = 200_000  # of calls of a group that are compared: of 1,024 ranks the last 195, of 64 ranks more than 2,000
MIN_CALLS = 64  # of each rank, however many there are
LAST_ROUNDS = 8  # that are followed back to the rank that caused them
MIN_OWN_PART = 0.5  # of the time by which a rank is late: it spent so much of it itself, and did not wait for others
MAX_CHAIN = 256  # calls that are followed back from the one that came late
MIN_LATE_S = 0.02  # chosen by hand: less is the time that a program needs to call


class Arrival(NamedTuple):
    """When a rank made the call `seq` of `group`, ns since 1970."""

    at: int
    rank: int
    group: str
    seq: int


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
    latest = max(found, key=lambda late: (late.rounds, late.late_s), default=None)
    return _first_of_chain(case, latest) if latest else None


def _first_of_chain(case: RankCase, late: Late) -> Late:
    """The rank that made `late` late: one that waits for another rank in one group is late to its next call in another group."""
    own = case.groups[late.group][late.rank]
    calls = [Arrival(at, late.rank, late.group, seq) for at, seq in zip(own.created_ns, own.seqs, strict=True)]
    calls = [one for one in calls if one.seq >= late.since]
    least = MIN_OWN_PART * late.late_s * 1e9
    first = [_with_own_time(case, one, least) for one in (calls[0], *calls[-LAST_ROUNDS:])]
    (rank, group), count = Counter((one.rank, one.group) for one in first).most_common(1)[0]
    if rank == late.rank or count <= len(first) // 2:
        return late
    since = next(one.seq for one in first if (one.rank, one.group) == (rank, group))
    return structs.replace(late, rank=rank, group=group, since=since)


def _with_own_time(case: RankCase, call: Arrival, least: float) -> Arrival:
    """The call before which a rank spent at least so many ns itself, from which the arrival at `call` follows; else `call`."""
    at = call
    for _ in range(MAX_CHAIN):
        before = _before(case, at)
        if before is None:
            break
        last = max((Arrival(_time_of(g, before.seq), r, before.group, before.seq) for r, g in case.groups[before.group].items()))
        awaited = last if before.at < last.at < at.at else before
        if at.at - awaited.at >= least:
            return at
        at = awaited
    return call


def _before(case: RankCase, call: Arrival) -> Arrival | None:
    """The call that the same rank made before."""
    own = ((name, calls[call.rank]) for name, calls in case.groups.items() if call.rank in calls)
    placed = ((name, g, bisect_left(g.created_ns, call.at) - 1) for name, g in own)
    found = (Arrival(g.created_ns[i], call.rank, name, g.seqs[i]) for name, g, i in placed if i >= 0)
    return max(found, default=None)


def _time_of(group: GroupCalls, seq: int) -> int:
    """When a rank made a call of a group; 0 if its dump does not have it."""
    index = bisect_left(group.seqs, seq)
    return group.created_ns[index] if index < len(group.seqs) and group.seqs[index] == seq else 0


def _in_group(case: RankCase, name: str) -> Late | None:
    calls = case.groups[name]
    if len(calls) < 2 or len(calls) < len(case.members[name]) or not all(len(g.seqs) for g in calls.values()):
        return None
    kept = max(MIN_CALLS, MAX_TIMES // len(calls))
    times = {rank: dict(zip(g.seqs[-kept:], g.created_ns[-kept:], strict=True)) for rank, g in calls.items()}
    _add_awaited(case, name, times)
    common = sorted(set.intersection(*(set(t) for t in times.values())))
    least = _least_rounds(len(calls))
    if len(common) < least:
        return None
    ranks = sorted(times)
    pick = itemgetter(*common)
    came = dict(zip(common, zip(*(pick(times[r]) for r in ranks), strict=True), strict=True))
    ends = (min(came[common[0]]), *(max(came[seq]) for seq in common))
    late = [late for before, seq in zip(ends, common, strict=False) if (late := _lateness(seq, came[seq], before))]
    end_s = max(came[common[-1]]) / 1e9
    for index in sorted({one.who for one in late}):
        start = _start([one.who for one in late], index)
        rounds = [one for one in late[start:] if one.who == index]
        if len(rounds) >= least and _is_large(rounds, end_s):
            return Late(ranks[index], name, median(one.late_s for one in rounds), rounds[0].seq, len(rounds))
    return None


def _least_rounds(ranks: int) -> int:
    """To how many calls in a row a rank must have come last: of two ranks to 8, of many to fewer."""
    return max(MIN_ROUNDS, 1 + ceil(log(1 / MAX_CHANCE, ranks)))


def _add_awaited(case: RankCase, name: str, times: Mapping[int, dict[int, int]]) -> None:
    """The call in which all others wait for one rank when the dumps are written: it comes to it later than its own was."""
    last = {rank: max(own) for rank, own in times.items()}
    behind = [rank for rank, seq in last.items() if seq < max(last.values())]
    written = case.written.get(case.dumps[behind[0]].source) if len(behind) == 1 else None
    if written is not None and last[behind[0]] + 1 == max(last.values()):
        times[behind[0]][last[behind[0]] + 1] = int(written * 1e9)


class _LateCall(NamedTuple):
    """A call to which the rank at `index` came last by far, and when."""

    seq: int
    who: int
    late_s: float
    at_s: float


def _lateness(seq: int, came: tuple[int, ...], before: int) -> _LateCall | None:
    """Who came last by far to a call; None where nobody did, or where he was late to the call before and made this one at once.
    `before`: when the last rank came to that."""
    earliest, (second, latest) = min(came), sorted(came)[-2:]
    late_s, second_s, gap_s = (latest - earliest) / 1e9, (second - earliest) / 1e9, (earliest - before) / 1e9
    if latest - before <= MIN_LATE_S * 1e9 or late_s <= max(MIN_LATE_S, MIN_TIMES_LATER * second_s, MIN_LATE_PART * gap_s):
        return None
    return _LateCall(seq, came.index(latest), late_s, latest / 1e9)


def _is_large(rounds: list[_LateCall], end_s: float) -> bool:
    """Is the time by which a rank was late in `rounds` long beside the rest of the time up to the last call?"""
    late_s = sum(one.late_s for one in rounds[1:])
    return late_s > MIN_LATE_PART * (end_s - rounds[0].at_s - late_s)


def _start(last: list[int], index: int) -> int:
    """From where on to the end this rank is the late one in almost all rounds."""
    hits, best = 0, len(last)
    for back, who in enumerate(reversed(last), 1):
        hits += who == index
        if who == index and hits >= MIN_LATE_SHARE * back:
            best = len(last) - back
    return best
