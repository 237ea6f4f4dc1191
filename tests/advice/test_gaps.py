"""Each item of the founding questions: what is given, and the line of the report that answers it.

gaps.csv: `by` is how the case came about: `captured` from a program that really ended so, `measured` by trainings under enforced
memory limits (docs/founding-questions.md), `form` of texts in the messages' own forms, which nobody captured: GPUs and hardware do not
fail to order (gap_forms.py). `given` is a sample log, a case of gap_cases.py, a text of gap_forms.py, or a command.
"""

import csv
import functools
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from forensics import analyze
from tests.advice.gap_cases import CASES
from tests.advice.gap_forms import in_form
from tests.commandline import in_text

ROOT = Path(__file__).parents[2]
ITEMS = 108  # of docs/founding-questions.md
with Path(__file__).with_name("gaps.csv").open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


@functools.cache
def said(given: str) -> str:
    """All that the report, or the command, says."""
    if given.startswith(("sample_logs/", "tests/")):
        return told([p for p in sorted((ROOT / given).iterdir()) if p.name != "expected.yaml"])
    texts = {"job.log": in_form(given)} if given.startswith(("form/", "example/")) else CASES.get(given)
    if texts:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in texts.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            return told([Path(folder)])
    return " ".join(in_text(*shlex.split(given)).stdout.split())


def told(paths: Sequence[str | Path]) -> str:
    report = analyze(paths, workers=1)
    lines = [text for c in report.causes for text in (c.title, c.summary, *(p.text for p in c.evidence))]
    lines += [text for a in report.causes[0].remediations for text in (a.action, a.why, *a.commands)]
    lines += [text for m in report.missing for text in (m.what, m.why, m.command)]
    return "\n".join([*lines, *(n.why for n in report.notices)])


@pytest.mark.seconds
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['question'][:12]}-{row['item'][:32]}")
def test_the_line_that_answers_it_is_told(row: dict[str, str]) -> None:
    assert row["line"] in said(row["given"])


def test_every_item_has_its_row_and_its_kind_of_proof() -> None:
    assert len({(r["question"], r["item"]) for r in ROWS}) == len(ROWS) == ITEMS
    assert {r["by"] for r in ROWS} == {"captured", "measured", "form"}
    assert all(r["by"] == "form" for r in ROWS if r["given"].startswith(("form/", "example/")))
