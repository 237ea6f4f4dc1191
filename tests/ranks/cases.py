"""Made dumps: for what can only be captured on GPUs, and for many ranks."""

from array import array
from collections.abc import Iterable, Mapping

from forensics.model.dumps import Call, Dump, Frame, GroupCalls

START_NS = 1_795_897_461_000_000_000


def call(
    seq: int, op: str = "all_reduce", *, pending: bool = False, at: float | None = None, line: int = 10, inputs: str = "Float[8]"
) -> Call:
    """A call of the program's line `line`, `at` seconds after the start."""
    created = START_NS + int((seq if at is None else at) * 1e9)
    frames = (Frame("/run/train.py", line, "step"),)
    return Call(seq, op, inputs, created, pending, "->" in op or "<-" in op, True if pending else None, frames)


def group(name: str, calls: Iterable[Call], members: Iterable[int] = (), enqueued: int | None = None) -> GroupCalls:
    """The calls of one rank in a group."""
    made = tuple(calls)
    whole = [c for c in made if not c.between_two]
    last = max((c.seq for c in whole), default=-1) if enqueued is None else enqueued
    first = min((c.seq for c in whole if c.pending), default=-1)
    columns = array("q", [c.seq for c in whole]), array("q", [c.created_ns for c in whole])
    return GroupCalls(name, f"group_{name}", tuple(members), last, first, made, *columns)


def dump(rank: int, *groups: GroupCalls, backend: str = "nccl") -> Dump:
    """The dump of a rank."""
    return Dump(f"fr/rank_{rank}", rank, "2.9", backend, groups, sum(len(g.calls) for g in groups))


def job(calls: Mapping[int, Iterable[Call]], backend: str = "nccl") -> list[Dump]:
    """The dumps of ranks that are all in one group."""
    return [dump(rank, group("0", made, calls), backend=backend) for rank, made in calls.items()]
