"""The pids by which a log calls its own program. All lines here are made."""

import pytest

from forensics.model import Line, Scan
from forensics.readers.tools.id_tables import program_pids, ranks_by_pid
from tests.conftest import text_source


@pytest.mark.parametrize(
    ("line", "pids"),
    [
        ("2026-11-21 16:24:10,774 INFO train: pid 10578 trains for 240 steps", {10578}),
        ("W1121 16:23:25.516000 10262 torch/distributed/elastic/multiprocessing/api.py:1028] closing", {10262}),
        ("INFO:     Started server process [4711]", {4711}),
        ("Process ID: 812, parent process id 811", {812, 811}),
        ("processed 4711 rows, pids 12", set()),
    ],
)
def test_pids_are_read_from_lines_that_name_processes(line: str, pids: set[int]) -> None:
    scan = Scan(text_source("train.log", b""), 0, 1, (), {}, (Line(1, line),), ())
    assert program_pids(scan) == pids


def test_a_line_that_names_a_rank_and_a_pid_tells_the_rank_of_that_process() -> None:
    """Two ranks of one number, as of two hosts, tell none."""
    told = [
        "rank 3 pid 10581 ready",
        "[rank1] started, pid=10582",
        "rank 0 waits for rank 2, pid 7",
        "rank 4: pid 9",
        "rank 5: pid 9",
    ]
    lines = tuple(Line(n, text) for n, text in enumerate(told, 1))
    scan = Scan(text_source("train.log", b""), 0, len(told), (), {}, lines, ())
    assert ranks_by_pid([scan]) == {10581: 3, 10582: 1}
