"""The kernel's process table: columns by its header, of any kernel; without a header by the columns that never changed."""

import pytest

from forensics.model import Line
from forensics.readers.kernel.process_table import ProcessTable, TableRow, table_rows

HEADERS = {
    "2.6": "[ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name",
    "4.x": "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
    "6.9": "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
}
ROWS = {
    "2.6": "[ 4711]  1000  4711   655928   126942   1       0             0 data worker",
    "4.x": "[   4711]  1000  4711   655928   126942  5226496   519670          -500 data worker",
    "6.9": "[   4711]  1000  4711   655928   126942   126000      942         0  5226496   519670          -500 data worker",
}


@pytest.mark.parametrize("kernel", HEADERS)
@pytest.mark.parametrize("prefix", ["", "[11686.888109] ", "Aug 22 03:00:07 node-7 kernel: "])
def test_a_row_is_read_with_and_without_its_header(kernel: str, prefix: str) -> None:
    wanted = TableRow(4711, "data worker", 126942)
    assert ProcessTable().row(prefix + ROWS[kernel]) == wanted
    table = ProcessTable()
    assert table.row(prefix + HEADERS[kernel]) is None
    assert table.row(prefix + ROWS[kernel]) == wanted


@pytest.mark.parametrize(
    "line", ["[11686.888109] Mem-Info:", "[   4711]  1000  4711", "[   4711]  1000  4711   655928   126942  5226496   519670", ""]
)
def test_another_line_is_no_row(line: str) -> None:
    table = ProcessTable()
    table.row(HEADERS["4.x"])
    assert table.row(line) is None


def test_rows_end_where_the_next_report_begins() -> None:
    lines = [HEADERS["4.x"], ROWS["4.x"], "python3 invoked oom-killer: gfp_mask=0xcc0", ROWS["4.x"]]
    assert [line.number for line, _ in table_rows(Line(i, text) for i, text in enumerate(lines, 1))] == [2]
