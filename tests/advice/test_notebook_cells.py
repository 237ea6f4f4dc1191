"""What is told of a cell that failed: its line, the mapping that its call passes, and how its kernel ended."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.adapters.jupyter.message import ERROR_NAME
from forensics.database import Database
from forensics.model import Report
from forensics.report import render

FIT = "def fit(cfg):\n    return cfg['batch_size']"


def notebook(
    folder: Path, knowledge: Database, cells: Sequence[tuple[str, int | None, tuple[str, str, Sequence[str]] | None]]
) -> Report:
    """The report on a notebook of cells: the source, the execution count, and name, text and traceback of an error."""
    made: list[dict[str, Any]] = []
    for source, count, error in cells:
        raised = [{"output_type": "error", "ename": e[0], "evalue": e[1], "traceback": list(e[2])} for e in (error,) if e]
        made.append({"cell_type": "code", "execution_count": count, "metadata": {}, "source": [source], "outputs": raised})
    path = folder / "out.ipynb"
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    return pipeline.analyze_paths([path], "case", knowledge)


@pytest.mark.parametrize(("passed", "named"), [("config", True), ("json.load(file)", False)])
def test_the_mapping_that_a_cell_passes_is_the_one_to_mend(passed: str, named: bool, tmp_path: Path, knowledge: Database) -> None:
    traceback = (
        "KeyError                                  Traceback (most recent call last)",
        f"Cell In[3], line 1\n----> 1 fit({passed})\n",
        "Cell In[2], line 2, in fit(cfg)\n      1 def fit(cfg):\n----> 2     return cfg['batch_size']",
        "KeyError: 'batch_size'",
    )
    cells = [("config = {'lr': 0.1}", 1, None), (FIT, 2, None), (f"fit({passed})", 3, ("KeyError", "'batch_size'", traceback))]
    first = notebook(tmp_path, knowledge, cells).causes[0].remediations[0].action
    assert ("`config = {'lr': 0.1}` at cell 1, line 1" in first) == named
    assert ("the file from which cfg is read" in first) != named


def test_a_kernel_that_ended_itself_is_shown_by_its_line(tmp_path: Path, knowledge: Database) -> None:
    """The heading of the cell and its first line have one number in the file: the line is shown nevertheless."""
    said = ("The kernel died: its process ended with exit status 7", "Nothing that was captured says why.")
    text = render(notebook(tmp_path, knowledge, [("os._exit(7)", None, (ERROR_NAME, said[0], said))]), "text")
    assert said[0] in text.partition("\nevidence ")[2].partition("\nwhat to do")[0]
    assert "its cell that was running ended with KernelDied" in text


def test_the_step_of_another_cell_is_not_where_a_cell_failed(tmp_path: Path, knowledge: Database) -> None:
    steps = "".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in range(60))
    told = {"output_type": "stream", "name": "stdout", "text": steps.splitlines(keepends=True)}
    traceback = [
        "KeyError                                  Traceback (most recent call last)",
        "Cell In[4], line 1\n----> 1 {}['label']\n",
        "KeyError: 'label'",
    ]
    raised = {"output_type": "error", "ename": "KeyError", "evalue": "'label'", "traceback": traceback}
    shared = {"cell_type": "code", "metadata": {}}
    cells = [
        {**shared, "execution_count": 3, "source": ["fit()"], "outputs": [told]},
        {**shared, "execution_count": 4, "source": ["{}['label']"], "outputs": [raised]},
    ]
    path = tmp_path / "out.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    assert pipeline.analyze_paths([path], "case", knowledge).causes[0].where == "cell 4, line 1"
