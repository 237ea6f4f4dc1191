"""Groups that ranks enter in different orders, so that each waits for the other.

rank 0 waits in group rows for 1, rank 1 waits in group world for 0    -> a circle; the one whose order is not the usual is odd
"""

from collections import Counter

from forensics.model.dumps import Call, GroupCalls
from forensics.ranks.case import RankCase
from forensics.ranks.waits import Waits

CallPlace = tuple[str, str]  # group and operation


def circle(found: Waits) -> set[int]:
    """The ranks that wait for each other in a circle, and those between two circles: what is left when ranks that wait for
    nobody, and ranks for which nobody waits, are taken away again and again."""
    edges = {(e.rank, e.other) for e in found.edges if e.shown}
    while edges:
        inner = {rank for rank, _ in edges} & {other for _, other in edges}
        left = {(rank, other) for rank, other in edges if rank in inner and other in inner}
        if len(left) == len(edges):
            break
        edges = left
    return {rank for edge in edges for rank in edge}


def odd_in_circle(case: RankCase, ranks: set[int]) -> dict[int, tuple[str, Call]]:
    """The ranks of a circle that entered another group than the usual one, each with the group and call in which it waits."""
    waiting = {rank: place for rank in ranks if (place := case.waits_in(rank))}
    if not waiting:
        return {}
    kinds = {rank: (case.groups[name][rank].description or name) for rank, (name, _) in waiting.items()}
    unusual = {rank: place for rank, place in waiting.items() if not _is_habit(case, rank, *place)}
    if unusual and len(unusual) < len(waiting):
        return unusual
    counts = Counter(kinds.values()).most_common()
    return {rank: place for rank, place in waiting.items() if kinds[rank] != counts[0][0]} if len(counts) > 1 else {}


def _is_habit(case: RankCase, rank: int, name: str, call: Call) -> bool:
    """Did this rank enter the group after the same call before?"""
    groups = case.dumps[rank].groups
    since = max(map(_whole_since, groups))  # before that, calls were left out between those that were kept
    calls = sorted((c.created_ns, g.name, c.op) for g in groups for c in g.calls if since <= c.created_ns <= call.created_ns)
    places = [(group, op) for _, group, op in calls]
    return places[-2:] in [places[at : at + 2] for at in range(len(places) - 2)] if len(places) > 2 else True


def _whole_since(group: GroupCalls) -> int:
    """Since when all calls of a group were kept."""
    finished = [c.created_ns for c in group.calls if not c.pending]
    return min(finished, default=0) if len(group.calls) < len(group.seqs) else 0
