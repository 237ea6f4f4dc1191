"""torchrun's table: who failed first, and who was killed by the launcher afterwards. Tables made for these tests."""

from collections.abc import Callable

import pytest

from forensics.model import Report
from forensics.readers.torch import torchelastic
from tests.readers.regions import regions

TIMED_OUT = (
    "[rank0]: RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 15000ms for recv operation to complete\n"
)
TABLE = """============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2025-05-01_12:00:{late}
  host      : node-1
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 50118)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 50118
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-05-01_12:00:10
  host      : node-1
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 50117)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


@pytest.mark.parametrize(("late", "died"), [("40", False), ("11", True)])
def test_a_rank_killed_after_the_grace_was_killed_by_the_launcher(analyze: Callable[..., Report], late: str, died: bool) -> None:
    report = analyze(train_log=TIMED_OUT + TABLE.format(late=late))
    assert report.verdict == "crash"
    assert ("process.worker_died" in {f.id for f in report.causes}) == died


def test_a_stamp_that_is_cut_is_no_reason(analyze: Callable[..., Report]) -> None:
    assert analyze(train_log=TIMED_OUT + TABLE.format(late="4")).causes


@pytest.mark.parametrize(("head", "listed"), [("Failures:\n", "0-1"), ("", None)])
def test_the_table_tells_all_ranks_that_failed_if_its_head_is_there(head: str, listed: str | None) -> None:
    """A rank that it lacks ended with exit status 0."""
    (table,) = regions(TABLE.format(late="11").replace("Failures:\n", head), torchelastic.TRIGGER)
    record = torchelastic.read(table)
    assert record is not None and record.fields.get("listed_ranks") == listed
