"""Who waits for whom: edges from a rank to the ranks that did not enter the call in which it waits.

    group dp: rank 0 waits in no. 17, rank 2 was last in 16   -> 0 waits for 2
    rank 4 waits in `recv 1<-0` of group pp, whose first member is rank 0, and 0 waits in no `send 0->1`   -> 4 waits for 0

A rank that still waits in a call which others have finished is behind: what it called was not carried out on its own device.

    rank 0 waits in group rows for 1, rank 1 waits in group world for 0  -> a circle; the one whose order is not the usual is odd
"""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from forensics.core import lazy
from forensics.model.dumps import Call, GroupCalls
from forensics.ranks.case import RankCase
from forensics.ranks.moments import ROOTED, finished

PEERS_PATTERN = lazy.regex(r"^(?P<what>send|recv) (?P<own>\d{1,7})(?:->|<-)(?P<peer>\d{1,7})$")
MIN_ROWS = 2  # between two calls of a group, so that it is known how many calls of other groups lie there


class Edge(Struct, frozen=True):
    """`rank` waits in `call` of `group` for `other`. `shown`: the other's dump shows that it did not enter it."""

    rank: int
    other: int
    group: str
    call: Call
    shown: bool


class Waits(Struct, frozen=True, dict=True):
    """All edges, and the ranks that are behind, each with the group and call that shows it."""

    edges: tuple[Edge, ...]
    behind: dict[int, tuple[str, Call]]

    @cached_property
    def _waiting_for(self) -> dict[int, set[int]]:
        """By rank: those that wait for it directly."""
        found: dict[int, set[int]] = {}
        for edge in self.edges:
            found.setdefault(edge.other, set()).add(edge.rank)
        return found

    @cached_property
    def first_for(self) -> dict[int, Edge]:
        """By rank: the edge of the one that waits for it first."""
        return {e.other: e for e in sorted(self.edges, key=lambda e: e.call.created_ns)[::-1]}

    def waited_for(self, rank: int) -> set[int]:
        """The ranks that wait for `rank`, directly or through others."""
        found, left = set[int](), [rank]
        while left:
            new = self._waiting_for.get(left.pop(), set()) - found - {rank}
            found |= new
            left += new
        return found

    def roots(self) -> list[int]:
        """The ranks that are waited for and wait for nobody."""
        waiting = {e.rank for e in self.edges}
        return sorted({e.other for e in self.edges} - waiting)


def waits(case: RankCase) -> Waits:
    """The edges of a case."""
    edges: list[Edge] = []
    behind: dict[int, tuple[str, Call]] = {}
    for name, calls in case.groups.items():
        absent = _Absent(case, name)
        reached = max(map(finished, calls.values()), default=-1)
        for rank, group in calls.items():
            edges += _whole(case, name, rank, absent)
            edges += _between_two(case, name, rank, group)
            if (call := _unfinished_alone(case, name, rank, reached)) is not None:
                behind.setdefault(rank, (name, call))
    found = Waits(tuple(dict.fromkeys(edges)), behind)
    return Waits((*found.edges, *_for_missing(case, found)), behind)


def _for_missing(case: RankCase, found: Waits) -> Iterator[Edge]:
    """A rank that is waited for, and whose last call was in a group with a rank that left no dump: that call failed for it, and
    counts as finished."""
    for rank in found.roots():
        if rank not in case.dumps or rank in case.ended or rank in case.stacks:
            continue
        calls = ((call.created_ns, name, call) for name, own in case.groups.items() if rank in own for call in own[rank].calls)
        _, name, call = max(calls, default=(0, "", None), key=lambda c: c[0])
        for member in case.members.get(name, ()):
            if call is not None and (member not in case.dumps or member in case.ended):
                yield Edge(rank, member, name, call, shown=False)


class _Absent(dict[int, tuple[tuple[int, bool], ...]]):
    """By number of a call of one group: the members that did not enter it, and whether their own dump shows that."""

    def __init__(self, case: RankCase, name: str) -> None:
        self.case, self.members, self.calls = case, case.members[name], case.groups[name]

    def __missing__(self, seq: int) -> tuple[tuple[int, bool], ...]:
        told = self.case.dumps.keys() - self.case.outdated
        shown = ((m, m in told) for m in self.members if m not in self.calls or self.calls[m].enqueued < seq)
        found = self[seq] = tuple(shown)
        return found


def _whole(case: RankCase, name: str, rank: int, absent: _Absent) -> Iterator[Edge]:
    call = case.stuck[name].get(rank)
    if call is not None:
        yield from (Edge(rank, member, name, call, shown) for member, shown in absent[call.seq] if member != rank)


def _between_two(case: RankCase, name: str, rank: int, group: GroupCalls) -> Iterator[Edge]:
    members = case.members[name]
    for call in group.calls:
        peers = PEERS_PATTERN.match(call.op) if call.between_two and call.pending else None
        if peers is None:
            continue
        index = int(peers["peer"])
        other = members[index] if index < len(members) else index
        wanted = (
            f"{'recv' if peers['what'] == 'send' else 'send'} {index}{'<-' if peers['what'] == 'send' else '->'}{peers['own']}"
        )
        there = case.groups[name].get(other)
        if other not in case.dumps:
            yield Edge(rank, other, name, call, shown=False)
        elif there is None or not any(c.pending and c.op == wanted for c in there.calls):
            yield Edge(rank, other, name, call, shown=True)


def _unfinished_alone(case: RankCase, name: str, rank: int, reached: int) -> Call | None:
    """The call in which only this rank still waits, although another one has finished it. Gloo counts calls that a rank may leave
    before the others as finished, and runs nothing on a device. `reached`: the most that a rank of the group finished."""
    call = case.stuck[name].get(rank)
    if call is None or call.seq > reached or call.op in ROOTED or case.dumps[rank].backend == "gloo":
        return None
    return call if any(finished(g) >= call.seq for r, g in case.groups[name].items() if r != rank) else None


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


def odd_in_circle(case: RankCase, found: Waits) -> dict[int, tuple[str, Call]]:
    """The ranks of a circle that entered another group than the usual one, each with the group and call in which it waits."""
    waiting = {rank: place for rank in circle(found) if (place := case.waits_in(rank))}
    if not waiting:
        return {}
    kinds = {rank: (case.groups[name][rank].description or name) for rank, (name, _) in waiting.items()}
    unusual = {rank: place for rank, place in waiting.items() if not _is_habit(case, rank, *place)}
    if unusual and len(unusual) < len(waiting):
        return unusual
    places = {(e.other, e.group) for e in found.edges if e.shown and e.other in waiting}
    long = {rank for rank, group in places if row_beyond(case, rank, group) > 0}
    if long and len(long) < len(waiting):
        return {rank: waiting[rank] for rank in long}
    counts = Counter(kinds.values()).most_common()
    return {rank: place for rank, place in waiting.items() if kinds[rank] != counts[0][0]} if len(counts) > 1 else {}


def row_beyond(case: RankCase, rank: int, group: str) -> int:
    """By how many calls is the row that a rank made in other groups, since its last call of this one, longer than any before?
    One that enters the groups in another order waits in the call that makes it longer; one that left a call out may go on."""
    groups = case.dumps[rank].groups
    since = max(map(_whole_since, groups))
    calls = sorted((c.created_ns, g.name == group) for g in groups for c in g.calls if c.created_ns >= since)
    at = [n for n, (_, is_own) in enumerate(calls) if is_own]
    longest = max((after - before for before, after in pairwise(at)), default=0)
    return len(calls) - at[-1] - longest if len(at) > MIN_ROWS else 0


def _is_habit(case: RankCase, rank: int, name: str, call: Call) -> bool:
    """Did this rank enter the group after the same call before, and, if always after as many of other groups, after as many?"""
    groups = case.dumps[rank].groups
    since = max(map(_whole_since, groups))  # before that, calls were left out between those that were kept
    calls = sorted((c.created_ns, g.name, c.op) for g in groups for c in g.calls if since <= c.created_ns <= call.created_ns)
    places = [(group, op) for _, group, op in calls]
    if len(places) <= 2:
        return True
    at = [n for n, (group, _) in enumerate(places) if group == name]
    *rows, last = [after - before for before, after in pairwise(at)] or [0]
    is_row = len(rows) < MIN_ROWS or len(set(rows)) > 1 or last == rows[0]
    return is_row and places[-2:] in [places[n : n + 2] for n in range(len(places) - 2)]


def _whole_since(group: GroupCalls) -> int:
    """Since when all calls of a group were kept."""
    finished = [c.created_ns for c in group.calls if not c.pending]
    return min(finished, default=0) if len(group.calls) < len(group.seqs) else 0
