"""Stacks are taken of a job that is not silent, too, where most of its ranks use no processor time: one of them may print."""

from types import SimpleNamespace

import pytest

from forensics.capture import growth
from forensics.capture.growth import IdleRanks


class Job:
    """Three ranks at times of a made clock. `at_work`: the share of a processor that each uses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stall_s: float) -> None:
        self.now, self.used, self.at_work = 100.0, {1: 9.0, 2: 9.0, 3: 9.0}, {1: 0.9, 2: 0.9, 3: 0.9}
        self.idle = IdleRanks(stall_s)
        monkeypatch.setattr(growth.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(growth.proc, "stat", lambda pid: SimpleNamespace(cpu_s=self.used[pid]) if pid in self.used else None)

    def due(self, seconds: int) -> list[float]:
        """The moments at which stacks were due in so many seconds."""
        found = []
        for _ in range(seconds * 5):
            self.now += 0.2
            self.used = {pid: used + 0.2 * self.at_work[pid] for pid, used in self.used.items()}
            found += [round(self.now - 100)] if self.idle.stacks_due([1, 2, 3]) else []
        return found


def test_stacks_are_due_when_more_than_half_of_the_ranks_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(monkeypatch, 20.0)
    assert job.due(100) == []
    job.at_work = {1: 0.01, 2: 0.9, 3: 0.9}
    assert job.due(100) == []
    job.at_work = {1: 0.01, 2: 0.9, 3: 0.01}
    times = job.due(100)
    assert len(times) == 3 and 219 <= times[0] <= 223 and times[1] - times[0] >= 18  # and each time when it is twice as long
    job.at_work = dict.fromkeys((1, 2, 3), 0.9)
    assert job.due(20) == []
    job.at_work = dict.fromkeys((1, 2, 3), 0.0)
    assert len(job.due(30)) == 1  # a new wait begins at the first length


@pytest.mark.parametrize(("stall_s", "left"), [(0.0, {1, 2, 3}), (20.0, {1})])
def test_nothing_is_due_where_nobody_asks_or_one_rank_is_alone(
    monkeypatch: pytest.MonkeyPatch, stall_s: float, left: set[int]
) -> None:
    job = Job(monkeypatch, stall_s)
    job.used = {pid: used for pid, used in job.used.items() if pid in left}
    job.at_work = dict.fromkeys((1, 2, 3), 0.0)
    assert job.due(100) == []
