"""Dumps of one job that are of several moments, as where each rank writes its own while the run goes on.

rank 1 finished no. 60 and waits in 61; the dump of rank 0 ends with its no. 58, which it called before rank 1 called 59
    -> rank 0 was in 60, too: its dump is of an earlier moment, and tells nothing of the wait for 61
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from forensics.model.dumps import GroupCalls

ROOTED = ("broadcast", "reduce", "gather", "scatter", "_broadcast_oop", "_reduce_oop")  # some ranks may go on before others came


def finished(group: GroupCalls) -> int:
    """The number of the last call up to which all are finished."""
    return group.enqueued if group.first_pending < 0 else min(group.enqueued, group.first_pending - 1)


def outdated(calls: Mapping[int, GroupCalls]) -> Iterator[int]:
    """The ranks of one group whose dumps are older than that of the rank that is the furthest. One that counts fewer calls as
    it left some out made its last one later than that rank made the next."""
    lead = max(calls.values(), key=_passed)
    passed = _passed(lead)
    for rank, group in calls.items():
        if group.enqueued < passed and len(group.created_ns):
            at = bisect_left(lead.seqs, group.enqueued + 1)
            if at < len(lead.seqs) and group.created_ns[-1] < lead.created_ns[at]:
                yield rank


def _passed(group: GroupCalls) -> int:
    """The last call that needs all ranks of the group and that a rank finished. The last one of a dump may have failed."""
    last = min(finished(group), group.enqueued - 1)
    return max((c.seq for c in group.calls if not c.between_two and c.seq <= last and c.op not in ROOTED), default=-1)
