"""Exceptions that are ignored are no sign of an end, wherever in a log they stand."""

from forensics.database import Database
from forensics.pipeline.teardown import find_teardown
from forensics.readers import read
from forensics.readers.lanes.line_classes import line_classes
from forensics.scan import scan
from tests.conftest import text_source

IGNORED = """\
Exception ignored in: <function Pool.__del__ at 0x7f2a11223344>
Traceback (most recent call last):
  File "/home/u/train.py", line 12, in close
FlurbError: connection refused
"""


def test_an_ignored_exception_far_above_the_end_is_ignored_as_well(knowledge: Database) -> None:
    work = "".join(f"update {n}\n" for n in range(900))
    source = scan(text_source("train.log", IGNORED + work + IGNORED), knowledge, lambda _w: None)
    lines = find_teardown(source, read(source, knowledge), line_classes(knowledge)).lines
    assert {2, 3, 4, 905, 906, 907, 908} <= lines
    assert not lines & {20, 500, 904}
