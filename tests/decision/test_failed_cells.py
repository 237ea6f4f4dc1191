"""A saved notebook that shows the error of a cell tells of it, though later cells ran; an error that was meant or mended is none."""

import json
from pathlib import Path
from typing import Any

import pytest

from forensics import analyze
from forensics.model import Report
from forensics.report import render

STEP = "def step(i):\n    return cfg['batch_size'] * i\nstep(1)"
MORE = "print('x')"


def cell(count: int | None, code: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": count, "metadata": {"tags": [*tags]}, "outputs": outputs, "source": [code]}


def raised(count: int | None, kind: str = "KeyError", said: str = "'batch_size'") -> dict[str, Any]:
    rule = "-" * 75
    lines = [
        rule, f"{kind}                                  Traceback (most recent call last)",
        f"Cell In[{count}], line 3\n      1 def step(i):\n----> 3 step(1)", f"{kind}: {said}",
    ]  # fmt: skip
    return {"output_type": "error", "ename": kind, "evalue": said, "traceback": lines}


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [text + "\n"]}


def told(folder: Path, *cells: dict[str, Any]) -> Report:
    path = folder / "out.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return analyze(path, workers=1)


@pytest.mark.parametrize("later", [1, 5, 40])
def test_a_cell_that_raised_is_a_failure_though_later_cells_ran(tmp_path: Path, later: int) -> None:
    behind = [cell(3 + i, MORE, printed(f"epoch {i} loss {1 / (i + 1):.3f}")) for i in range(later)]
    report = told(tmp_path, cell(1, "cfg = {'lr': 0.1}"), cell(2, STEP, raised(2)), *behind)
    assert (report.verdict, report.causes[0].id) == ("crash", "code.exception")
    assert "cell 2" in (report.causes[0].where or "")
    assert "its cell In [2] ended with KeyError, and later cells ran" in render(report, "text").replace("\n", " ")


def test_the_cell_that_ran_last_ended_it(tmp_path: Path) -> None:
    report = told(tmp_path, cell(2, STEP, raised(2)), cell(1, "cfg = {'lr': 0.1}"))
    assert report.subject and report.subject.why == "its cell In [2] ended with KeyError"


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param((cell(2, STEP, raised(2), tags=("raises-exception",)), cell(3, MORE, printed("x"))), id="its tags allow it"),
        pytest.param((cell(2, STEP, raised(2)), cell(3, "cfg['batch_size'] = 8"), cell(4, STEP)), id="the same ran later"),
        pytest.param((cell(4, STEP), cell(2, STEP, raised(2)), cell(3, MORE, printed("x"))), id="the same ran later, above"),
        pytest.param((cell(2, MORE, raised(2, "KeyboardInterrupt", "")), cell(3, MORE, printed("x"))), id="the user stopped it"),
    ],
)
def test_an_error_that_was_meant_or_mended_is_no_failure(tmp_path: Path, cells: tuple[dict[str, Any], ...]) -> None:
    assert told(tmp_path, cell(1, "cfg = {'lr': 0.1}"), *cells).verdict == "no_crash"


def test_a_cell_with_the_same_code_that_ran_earlier_mends_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, cell(1, STEP), cell(2, "cfg.clear()"), cell(3, STEP, raised(3)), cell(4, MORE)).verdict == "crash"
