"""What of a cell was running: plain functions, no Jupyter needed."""

import pytest

from forensics.adapters.jupyter.running_cell import MAX_CODE_LINES, file_name, ran

CELL = "import os\n# load\nrows = [read(\n    path)\n    for path in paths]\nfor row in rows:\n    use(row,\n        1)\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (4, "rows = [read(\n    path)\n    for path in paths]"),
        (6, "for row in rows:"),
        (8, "use(row,\n    1)"),
        (0, CELL.replace("# load\n", "").rstrip()),
    ],
)
def test_the_whole_statement_at_a_line_is_shown_and_of_one_with_a_body_its_head(line: int, code: str) -> None:
    assert ran(CELL, line) == code


def test_a_line_of_a_cell_with_magics_is_shown_as_it_stands() -> None:
    assert ran("%matplotlib inline\n!nvidia-smi\n", 2) == "!nvidia-smi"


def test_of_a_cell_whose_line_is_unknown_both_ends_are_shown() -> None:
    shown = ran("\n".join(f"x{n} = {n}" for n in range(40)), 0).splitlines()
    assert (len(shown), shown[0], shown[-1]) == (MAX_CODE_LINES, "x0 = 0", "x39 = 39")
    assert "31 more lines" in shown[6]


def test_the_file_of_a_cell_has_the_name_that_ipykernel_gives_it() -> None:
    compiler = pytest.importorskip("ipykernel.compiler", reason="needs ipykernel")
    for code in ("", "a", "é = 1", "x = 1\n", CELL):
        assert compiler.get_file_name(code).endswith(file_name(code))
