"""Calls that should be the same on all ranks of a group and are not: another operation, shape or type under the same number.

    group 0, no. 17: all_reduce Float[64] on ranks 0, 1 and 3, broadcast Float[64] on rank 2     -> rank 2, another operation

The ranks that call what most call are taken for the usual ones. Where there is no majority, the habit of each rank decides: what
came after the same calls before, and after the longer row of them. A rank that made the call that used to follow that of the
others left theirs out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from operator import eq

from msgspec import Struct

from forensics.model.dumps import Call, GroupCalls
from forensics.model.ranks import Kind
from forensics.ranks.case import RankCase

# Operations for which all ranks give tensors of one shape and type. Others may differ by rank, or have one list more at the root.
SAME_SHAPES = ("all_reduce", "broadcast", "reduce", "barrier", "_all_gather_base", "_reduce_scatter_base", "allreduce")
MAX_CALLS_AFTER = 2  # calls that all ranks still made: a broadcast, for one, returns at its root whatever the others do


Signature = tuple[str, str]  # an operation, and the shapes where all ranks give the same


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


def _signature(call: Call) -> Signature:
    return call.op, call.inputs if call.op in SAME_SHAPES else ""


def _judged(name: str, seq: int, at: Mapping[int, Call], by_seq: Mapping[int, Mapping[int, Call]]) -> Difference:
    counts = Counter(map(_signature, at.values())).most_common()
    if len(counts) > 1 and counts[0][1] > counts[1][1]:
        usual = {counts[0][0]}
    else:
        habits = {_signature(c): _habit(_before(r, seq, by_seq), c) for r, c in at.items()}
        usual = {signature for signature, length in habits.items() if length == max(habits.values())}
    if len(usual) == len(counts):  # nothing tells them apart: all are shown, the last to call first
        usual = {_signature(min(at.values(), key=lambda c: c.created_ns))}
    odd = {r: c for r, c in at.items() if _signature(c) not in usual}
    rest = {r: c for r, c in at.items() if r not in odd}
    first = min(rest)
    return Difference(name, seq, _kind(odd.values(), rest[first], _before(first, seq, by_seq)), odd, rest)


def _before(rank: int, seq: int, by_seq: Mapping[int, Mapping[int, Call]]) -> list[Call]:
    """The calls of `rank` in the group before the number `seq`, as far as they were kept."""
    return [by_seq[s][rank] for s in sorted(by_seq) if s < seq and rank in by_seq[s]]


def _habit(before: Sequence[Call], call: Call) -> int:
    """How long a row of calls, the same as the last ones, came before this call earlier; 0 where none did."""
    row = [_signature(c) for c in before]
    ends = [at for at, one in enumerate(row) if one == _signature(call)]
    return max((_same_back(row[:at], row) for at in ends), default=0)


def _same_back(first: Sequence[Signature], second: Sequence[Signature]) -> int:
    """How many calls at the end of two rows are the same."""
    return sum(1 for _ in takewhile(bool, map(eq, reversed(first), reversed(second))))


def _kind(odd: Iterable[Call], usual: Call, before: Sequence[Call]) -> Kind:
    """How the calls of the odd ranks differ. `before`: those of the usual rank before."""
    if all(c.op == usual.op for c in odd):
        return "other_shape"
    followed = {(_exact(a), _exact(b)) for a, b in pairwise(before)}
    return "left_out" if all((_exact(usual), _exact(c)) in followed for c in odd) else "other_call"


def _exact(call: Call) -> Signature:
    return call.op, call.inputs
