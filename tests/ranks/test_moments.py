"""Dumps that ranks wrote one after the other while the run went on."""

import pytest
from msgspec.structs import replace

from forensics.model import Line
from forensics.model.dumps import Call
from forensics.model.ranks import ProofPlace
from forensics.ranks import picture
from forensics.ranks.ended import Ended, Ends
from forensics.ranks.moments import outdated
from forensics.readers.python.process_stacks import read_stacks
from tests.ranks.cases import call, dump, group, job
from tests.ranks.test_by_stacks import IN_CALL, stack
from tests.ranks.test_picture import odd, written


def upto(last: int, waits: bool = True, shift: float = 0.0) -> list[Call]:
    """The calls of a rank, each a second after the one before. `shift`: by how many seconds it made them later than others."""
    return [call(n, at=n + shift, pending=waits and n == last) for n in range(1, last + 1)]


def test_a_dump_that_ends_before_calls_which_another_rank_finished_is_of_an_earlier_moment() -> None:
    dumps = job({0: upto(8, False), 1: upto(11), 2: upto(10), 3: upto(9)}, backend="gloo")
    assert set(outdated({d.rank or 0: d.groups[0] for d in dumps})) == {0, 3}
    assert odd(dumps, written=written(dumps, 60)) == []
    killed = Ended("it was ended by SIGKILL", None, ProofPlace("job.log", 9, "exitcode: -9"), "process.worker_died")
    found = picture(dumps, ends=Ends({3: killed}, {0: killed, 2: killed}), written=written(dumps, 60), by_logs=True)
    assert found is not None and [(one.rank, one.kind) for one in found.odd] == [(3, "left")]


@pytest.mark.parametrize(
    ("calls", "ranks"),
    [
        ({0: upto(11), 1: upto(10, False), 2: upto(11)}, [1]),  # it did not come to the last one
        ({0: upto(11), 1: upto(8, False, shift=2.5), 2: upto(11)}, [1]),  # it left two calls out, and counts fewer
    ],
)
def test_a_rank_that_is_behind_at_one_moment_is_waited_for(calls: dict[int, list[Call]], ranks: list[int]) -> None:
    dumps = job(calls, backend="gloo")
    assert set(outdated({d.rank or 0: d.groups[0] for d in dumps})) == set()
    assert [one.rank for one in odd(dumps, written=written(dumps, 60))] == ranks


def test_a_call_that_some_ranks_may_leave_before_others_come_shows_no_moment() -> None:
    roots = [call(n, "broadcast", at=n, pending=n == 9) for n in range(1, 10)]
    dumps = [dump(0, group("0", roots)), dump(1, group("0", [call(1, "broadcast", at=1)]))]
    assert set(outdated({d.rank or 0: d.groups[0] for d in dumps})) == set()


@pytest.mark.parametrize(
    ("frames", "timeout_s", "ranks"),
    [
        ("train (/run/train.py:30)", 60.0, []),  # they went on when that call was finished
        ("train (/run/train.py:30)", 3.0, [3]),  # they may have given it up
        (IN_CALL, 60.0, [3]),
    ],
)
def test_a_finished_call_from_which_ranks_went_on_has_not_failed(frames: str, timeout_s: float, ranks: list[int]) -> None:
    """For gloo a call that failed counts as finished. The dumps were written 5 s after the last call."""
    calls = {rank: [replace(one, timeout_s=timeout_s) for one in upto(10 if rank < 3 else 9, False)] for rank in range(4)}
    dumps = job(calls, backend="gloo")
    texts = [stack(rank, frames) for rank in range(4)]
    stacks = [
        one for n, text in enumerate(texts) for one in read_stacks([Line(i, t) for i, t in enumerate(text, 1)], f"stacks/{n}.txt")
    ]
    assert [one.rank for one in odd(dumps, stacks=stacks, written=written(dumps, 15))] == ranks
