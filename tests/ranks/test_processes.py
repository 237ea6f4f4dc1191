"""The process of each rank, from lines that name several ids, and the rank of a process."""

import pytest

from forensics.model import Line, Observation
from forensics.model.ranks import RankProcess, process_text
from forensics.ranks.ended import rank_of, rank_processes
from forensics.readers.identity.entity_ids import EntityIds
from forensics.readers.python.process_stacks import read_stacks

ON_TWO_HOSTS = {3: RankProcess(4711, "gpu-04"), 11: RankProcess(4711, "gpu-05.cluster"), 12: RankProcess(4712)}


def test_lines_that_name_a_rank_and_its_pid_add_up() -> None:
    told = [
        EntityIds("job.log", "gpu-04", pid=4711, rank=3, gpu=2),
        EntityIds("job.log", pid=4711, rank=3),
        EntityIds("job.log", "gpu-09", rank=5),  # without a pid, the host may be that of the line
        EntityIds("job.log", "gpu-04", pid=4800, rank=4, gpu=3),
        EntityIds("job.log", pid=4900, rank=4),  # after a restart, on a host that is unknown
    ]
    assert rank_processes(told, []) == {3: RankProcess(4711, "gpu-04", 2), 4: RankProcess(4900)}


def test_a_helper_that_a_log_tells_with_its_rank_is_not_the_process_of_the_rank() -> None:
    """A worker of a data loader has the rank in its environment."""
    worker = Observation("end", None, "strong", "job.log", 9, 9, (), {"rank": 1, "pid": 6980})
    lines = [
        "forensics run: stacks of pid 6929 (python), rank 1",
        'Thread 6929 (idle): "MainThread"',
        "    train (/run/train.py:7)",
    ]
    stacks = read_stacks([Line(n, line) for n, line in enumerate(lines, 1)], "stacks/6929.txt")
    assert rank_processes([], [worker]) == {1: RankProcess(6980)}
    assert rank_processes([], [worker], stacks) == {1: RankProcess(6929)}
    assert rank_processes([EntityIds("job.log", pid=6930, rank=1)], [worker], stacks) == {1: RankProcess(6930)}


@pytest.mark.parametrize(
    ("pid", "host", "rank"),
    [(4711, "gpu-04", 3), (4711, "gpu-05", 11), (4711, "", None), (4711, "gpu-06", None), (4712, "gpu-06", 12), (None, "", None)],
)
def test_one_pid_on_two_hosts_is_two_ranks(pid: int | None, host: str, rank: int | None) -> None:
    assert rank_of(ON_TWO_HOSTS, pid, host) == rank


@pytest.mark.parametrize(
    ("process", "text"),
    [
        ((4711, "gpu-04", 0), " (pid 4711 on gpu-04, GPU 0)"),
        ((4711, "", None), " (pid 4711)"),
        ((None, "gpu-04", None), " (gpu-04)"),
        ((None, "", 3), " (GPU 3)"),
        ((None, "", None), ""),
    ],
)
def test_the_process_stands_behind_its_rank(process: tuple[object, object, object], text: str) -> None:
    assert process_text(*process) == text
