"""An executed notebook whose kernel died: the cell that began and has no end is where, and no place behind it is guessed."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics import analyze
from forensics.model import Report

BEGAN = {"iopub.execute_input": "2026-11-29T18:16:02.243958Z", "iopub.status.busy": "2026-11-29T18:16:02.243616Z"}
ENDED = {"iopub.status.idle": "2026-11-29T18:16:02.343958Z", "shell.execute_reply": "2026-11-29T18:16:02.343616Z"}


def cell(count: int | None, times: dict[str, str], over: str | None) -> dict[str, Any]:
    """A cell as papermill writes it. `over`: when it went on behind the cell; None if it never came to it."""
    about = {"execution": times, "papermill": {"end_time": over, "status": "completed", "exception": False if over else None}}
    return {"cell_type": "code", "execution_count": count, "metadata": about, "outputs": [], "source": ["train()\n"], "id": "a"}


def told(folder: Path, *cells: dict[str, Any]) -> Report:
    path = folder / "out.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return analyze(path, workers=1)


def test_the_cell_that_began_and_has_no_end_is_where_the_kernel_died(tmp_path: Path) -> None:
    over = "2026-11-29T18:16:03+00:00"
    report = told(tmp_path, cell(1, BEGAN | ENDED, over), cell(2, BEGAN, over), cell(None, {}, None))
    assert (report.verdict, report.causes[0].id, report.causes[0].where) == ("crash", "notebook.kernel_died", "cell 2")
    assert not any("the cell behind it" in warning.message for warning in report.warnings)
    assert report.causes[0].remediations


@pytest.mark.parametrize(("times", "over"), [(BEGAN | ENDED, "2026-11-29T18:16:03+00:00"), (BEGAN, None)])
def test_a_cell_that_ended_or_may_still_run_tells_no_death(tmp_path: Path, times: dict[str, str], over: str | None) -> None:
    report = told(tmp_path, cell(1, BEGAN | ENDED, "2026-11-29T18:16:02+00:00"), cell(2, times, over))
    assert report.verdict == "no_crash"
