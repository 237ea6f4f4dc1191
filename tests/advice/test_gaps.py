"""Each item of the founding questions that was not answered once: what is given, and the line of the report that answers it.

gaps.csv: `by` is how the case came about: `captured` from a program that really ended so, `measured` by trainings under enforced
memory limits (docs/founding-questions.md), `wording` after the message that a tool documents. `given` is a sample log, a case of
gap_cases.py, or a command.
"""

import csv
import functools
import shlex
import tempfile
from pathlib import Path

import pytest

from forensics import analyze
from tests.advice.gap_cases import CASES
from tests.commandline import in_text

ROOT = Path(__file__).parents[2]
with Path(__file__).with_name("gaps.csv").open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


@functools.cache
def said(given: str) -> str:
    """All that the report, or the command, says."""
    if given.startswith("sample_logs/"):
        paths: list[str | Path] = [p for p in sorted((ROOT / given).iterdir()) if p.name != "expected.yaml"]
        return told(paths)
    if given in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in CASES[given].items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            return told([Path(folder)])
    return " ".join(in_text(*shlex.split(given)).stdout.split())


def told(paths: list[str | Path]) -> str:
    report = analyze(paths, workers=1)
    lines = [text for c in report.causes for text in (c.title, c.summary, *(p.text for p in c.evidence))]
    lines += [text for a in report.causes[0].remediations for text in (a.action, a.why, *a.commands)]
    return "\n".join([*lines, *(n.why for n in report.notices)])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['question'][:12]}-{row['item'][:32]}")
def test_the_line_that_answers_it_is_told(row: dict[str, str]) -> None:
    assert row["line"] in said(row["given"])


def test_every_item_has_its_row_and_its_kind_of_proof() -> None:
    assert len({(r["question"], r["item"]) for r in ROWS}) == len(ROWS) == 51
    assert {r["by"] for r in ROWS} == {"captured", "measured", "wording"}
