"""Shared variables that threads write without a lock."""

from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from tests.report.samples import sample

COUNTER = """\
import threading
class Counter:
    def __init__(self):
        self.n, self.seen = 0, dict()
    def add(self, text):
        {0}
counter = Counter()
threading.Thread(target={1}).start()
assert counter.n == 8
"""
FAILED = 'Traceback (most recent call last):\n  File "train.py", line 9, in <module>\n    assert counter.n == 8\nAssertionError\n'


@pytest.mark.parametrize(
    ("write", "target", "named"),
    [
        ("self.n += 1", "counter.add", True),
        ("self.n += 1", "lambda: counter.add('a')", True),
        ("self.seen[text] = self.seen.get(text, 0) + 1", "counter.add", True),
        ("self.seen[text] = len(text)", "counter.add", False),  # each writes a place of its own
        ("self.n = len(text)", "counter.add", False),  # what was there does not count
        ("n = 0; n += 1", "counter.add", False),  # its own
        ("self.n += 1", "print", False),  # no thread runs it
    ],
)
def test_a_write_that_can_be_lost_is_named(write: str, target: str, named: bool, knowledge: Database, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(FAILED)
    (tmp_path / "train.py").write_text(COUNTER.format(write, target))
    report = pipeline.analyze_paths([tmp_path], "case", knowledge)
    found = [a.action for a in report.causes[0].remediations if "one thread at a time" in a.action]
    assert found == (["Let only one thread at a time change what train.py:6 changes"] if named else [])


@pytest.mark.parametrize(
    ("case", "first"),
    [
        ("lost_counts", "Let only one thread at a time change what lost_counts.py:17 changes"),
        ("changed_while_read", "Go over a copy of what other threads change, and make the copy under their lock"),
    ],
)
def test_captured_cases_name_the_line(case: str, first: str, knowledge: Database) -> None:
    assert sample(case, knowledge).causes[0].remediations[0].action == first
