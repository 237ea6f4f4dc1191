"""Calls that should be the same on all ranks of a group and are not: another operation, shape or type under the same number.

    group 0, no. 17: all_reduce Float[64] on ranks 0, 1 and 3, broadcast Float[64] on rank 2     -> rank 2, another operation

The ranks that call what most call are taken for the usual ones. Where there is no majority, the habit of each rank decides: what
came after the same call before.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from msgspec import Struct

from forensics.model.dumps import Call, GroupCalls
from forensics.model.ranks import Kind
from forensics.ranks.case import RankCase

# Operations for which all ranks give tensors of one shape and type. Others may differ by rank, or have one list more at the root.
SAME_SHAPES = ("all_reduce", "broadcast", "reduce", "barrier", "_all_gather_base", "_reduce_scatter_base", "allreduce")
MAX_CALLS_AFTER = 2  # calls that all ranks still made: a broadcast, for one, returns at its root whatever the others do


class Difference(Struct, frozen=True):
    """The first call of a group that differs. `odd`: the call of each odd rank; `usual`: that of each other rank."""

    group: str
    seq: int
    kind: Kind
    odd: Mapping[int, Call]
    usual: Mapping[int, Call]


def first_difference(case: RankCase) -> Difference | None:
    """The earliest difference in a group in which no rank went on for long; None if there is none."""
    found = [d for name, calls in case.groups.items() if (d := _in_group(name, calls))]
    return min(found, key=lambda d: min(c.created_ns for c in (*d.odd.values(), *d.usual.values())), default=None)


def _in_group(name: str, calls: Mapping[int, GroupCalls]) -> Difference | None:
    by_seq: dict[int, dict[int, Call]] = {}
    for rank, group in calls.items():
        for call in group.calls:
            if not call.between_two:
                by_seq.setdefault(call.seq, {})[rank] = call
    reached = min(g.enqueued for g in calls.values())
    for seq in sorted(s for s in by_seq if s >= reached - MAX_CALLS_AFTER):
        at = by_seq[seq]
        if len(at) > 1 and len({_signature(c) for c in at.values()}) > 1:
            return _judged(name, seq, at, by_seq)
    return None


def _signature(call: Call) -> tuple[str, str]:
    return call.op, call.inputs if call.op in SAME_SHAPES else ""


def _judged(name: str, seq: int, at: Mapping[int, Call], by_seq: Mapping[int, Mapping[int, Call]]) -> Difference:
    counts = Counter(map(_signature, at.values())).most_common()
    if len(counts) > 1 and counts[0][1] > counts[1][1]:
        usual = {counts[0][0]}
    else:
        usual = {_signature(c) for r, c in at.items() if _is_habit(r, seq, c, by_seq)} or {counts[0][0]}
    if len(usual) == len(counts):  # nothing tells them apart: all are shown, the last to call first
        usual = {_signature(min(at.values(), key=lambda c: c.created_ns))}
    odd = {r: c for r, c in at.items() if _signature(c) not in usual}
    rest = {r: c for r, c in at.items() if r not in odd}
    same_op = {c.op for c in odd.values()} == {c.op for c in rest.values()}
    return Difference(name, seq, "other_shape" if same_op else "other_call", odd, rest)


def _is_habit(rank: int, seq: int, call: Call, by_seq: Mapping[int, Mapping[int, Call]]) -> bool:
    """Did `rank` call this after the same call before?"""
    before = by_seq.get(seq - 1, {}).get(rank)
    earlier = [by_seq[s].get(rank) for s in sorted(by_seq) if s < seq]
    pairs = {(_signature(a), _signature(b)) for a, b in pairwise(earlier) if a and b}
    return before is not None and (_signature(before), _signature(call)) in pairs
