"""Each item of the founding questions: what is given, and the line of the report that answers it.

gaps.csv: `by` is how the case came about: `captured` from a program that really ended so, `measured` by trainings under enforced
memory limits (docs/founding-questions.md), `public` of logs that people published. `given` is a sample log, a case of gap_cases.py, a command, or a published log, which lies beside the repository
(../shared/corpus/dev) and not in it: where it is not there, its rows are skipped.
"""

import csv
import functools
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from forensics import analyze
from tests.advice.gap_cases import CASES
from tests.commandline import in_text

ROOT = Path(__file__).parents[2]
PUBLIC = Path(os.environ.get("FORENSICS_CORPUS", ROOT.parent / "shared" / "corpus")) / "dev"
ITEMS = 108  # of docs/founding-questions.md
with Path(__file__).with_name("gaps.csv").open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))


@functools.cache
def said(given: str) -> str:
    """All that the report, or the command, says."""
    if given.startswith(("sample_logs/", "tests/")):
        return told([p for p in sorted((ROOT / given).iterdir()) if p.name != "expected.yaml"])
    if given.startswith("public/"):
        return told(sorted((PUBLIC / given.removeprefix("public/")).iterdir()))
    if given in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in CASES[given].items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            return told([Path(folder)])
    return " ".join(in_text(*shlex.split(given)).stdout.split())


def told(paths: Sequence[str | Path]) -> str:
    report = analyze(paths, workers=1)
    lines = [text for c in report.causes for text in (c.title, c.summary, *(p.text for p in c.evidence))]
    lines += [text for a in report.causes[0].remediations for text in (a.action, a.why, *a.commands)]
    lines += [text for m in report.missing for text in (m.what, m.why, m.command)]
    return "\n".join([*lines, *(n.why for n in report.notices)])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['question'][:12]}-{row['item'][:32]}")
def test_the_line_that_answers_it_is_told(row: dict[str, str]) -> None:
    if row["by"] == "public" and not PUBLIC.is_dir():
        pytest.skip("published logs do not lie beside the repository")
    assert row["line"] in said(row["given"])


def test_every_item_has_its_row_and_its_kind_of_proof() -> None:
    assert len({(r["question"], r["item"]) for r in ROWS}) == len(ROWS) == ITEMS
    assert {r["by"] for r in ROWS} == {"captured", "measured", "public"}
    assert all(r["given"].startswith("public/") == (r["by"] == "public") for r in ROWS)
