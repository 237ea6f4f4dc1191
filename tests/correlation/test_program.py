"""The pids by which a log calls its own program. All lines here are made."""

import pytest

from forensics.model import Line, Scan
from forensics.readers.tools.id_tables import program_pids
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
