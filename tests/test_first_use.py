"""What users met in their first hours: each finding is held by a test, or a sentence says why not (first_use.csv)."""

import csv
import re
from pathlib import Path

import pytest

from forensics import analyze
from forensics.core.text import numbers_in_words

ROOT = Path(__file__).parents[1]


def test_each_finding_has_a_test_that_there_is_or_a_reason() -> None:
    with (ROOT / "tests" / "first_use.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 50
    for row in rows:
        path, _, name = row["held by"].partition("::")
        assert bool(path) != bool(row["why no test"]), row["what a user met"]
        if path:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", text, re.M), f"{row['what a user met']}: no {name} in {path}"


@pytest.mark.seconds
def test_a_line_of_many_megabytes_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text("x " * (6 << 20) + "\nRuntimeError: CUDA error: device-side assert triggered\n")
    report = analyze(tmp_path / "one.log", workers=1)
    assert (report.sources[0].lines, report.causes[0].evidence[0].line) == (2, 2)


@pytest.mark.parametrize(
    ("numbers", "words"), [([2], "2"), ([2, 3, 4], "2 to 4"), ([2, *range(7, 84)], "2 and 7 to 83"), ([1, 2, 4, 5, 9, 11], "")]
)
def test_numbers_of_incidents_are_words(numbers: list[int], words: str) -> None:
    said = numbers_in_words(numbers, 3)
    assert "-" not in said and said[0].isdigit()
    assert not words or said.replace(", ", " and ") == words.replace(", ", " and ")
