"""Lines of the greatest length that is examined, made to cost much, cost readers next to nothing."""

import time

from forensics.core.limits import Limits
from forensics.model import Line
from forensics.readers.base import parse_lines, unwrapped
from forensics.readers.kernel.process_table import OOM_TABLE_HEADER_PATTERN

LONGEST_CHARS = Limits().text
LIMIT_S = 0.5  # of processor time; what grows with the square of the length took many seconds


def test_digits_where_a_prefix_has_a_number() -> None:
    head, frame = "run-1-2: Traceback (most recent call last):", "run-17-ab3: File"
    rows = parse_lines([Line(n, text) for n, text in enumerate([head, frame, *["run-" + "0" * (LONGEST_CHARS - 4)] * 20], 1)])
    begun = time.thread_time()
    assert [r.message for r in unwrapped(rows, "Traceback")[:2]] == ["Traceback (most recent call last):", "File"]
    assert time.thread_time() - begun < LIMIT_S


def test_the_head_of_a_table_of_processes_many_times_in_a_line() -> None:
    line = "[pid] uid nam" * (LONGEST_CHARS // 13)
    begun = time.thread_time()
    for _ in range(20):
        assert OOM_TABLE_HEADER_PATTERN.search(line) is None
    assert time.thread_time() - begun < LIMIT_S
    assert OOM_TABLE_HEADER_PATTERN.search("[  pid  ]   uid  tgid total_vm name") is not None
