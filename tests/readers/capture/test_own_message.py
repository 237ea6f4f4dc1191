"""What this program told of a dead kernel is read again, from the notebook's metadata, its output or a log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.adapters.jupyter.message import ERROR_NAME, death_message, facts_of_bundle
from forensics.database import Database
from forensics.model import Report
from forensics.report.document import document

Analyze = Callable[..., Report]
KILL = (
    "[ 1200.000000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/notebooks,"
    "task_memcg=/notebooks,task=python3,pid=5120,uid=1000\n"
    "[ 1200.000000] Memory cgroup out of memory: Killed process 5120 (python3) total-vm:900000kB, anon-rss:482304kB, file-rss:0kB\n"
)
SEGFAULT = "[ 1200.000000] python3[5120]: segfault at 0 ip 00007f00 sp 00007f10 error 4 in libx.so[1000+2000]\n"


class Told:
    """A report as the adapters have it: with remedies and causes by attribute."""

    subject = None

    def __init__(self, report: Report) -> None:
        self.verdict, self.causes = (
            report.verdict,
            [type("Cause", (), {**c, "remediations": ()}) for c in document(report)["causes"]],
        )


def message(analyze: Analyze, log: str) -> tuple[dict[str, Any], Report]:
    first = analyze(dmesg=log)
    facts = facts_of_bundle("/b/1") | {
        "pid": 5120,
        "status": "was ended by signal 9 (SIGKILL)",
        "count": 2,
        "first_line": "run()",
    }
    return death_message(Told(first), facts), first  # type: ignore[arg-type]


def shown(told: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"text/plain": told["text"].splitlines(True)}, "metadata": told["metadata"]}


def raised(told: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "error", "ename": ERROR_NAME, "evalue": told["error"], "traceback": told["text"].splitlines()}


def notebook(*outputs: dict[str, Any]) -> str:
    cells = [
        {"cell_type": "code", "execution_count": n, "metadata": {}, "outputs": list(made), "source": []}
        for n, made in ((1, ()), (2, outputs))
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)


@pytest.mark.parametrize("log", [KILL, SEGFAULT], ids=["memory kill", "segfault"])
@pytest.mark.parametrize(
    "parts", [(shown,), (raised,), (shown, raised)], ids=["the message that is shown", "the error alone", "both"]
)
def test_a_death_that_was_told_of_has_the_cause_that_was_told(
    analyze: Analyze, knowledge: Database, tmp_path: Path, log: str, parts: Any
) -> None:
    told, before = message(analyze, log)
    filled = tmp_path / "filled.ipynb"
    filled.write_text(notebook(*(make(told) for make in parts)))
    report = pipeline.analyze_paths([filled], "", knowledge)
    first = report.causes[0]
    assert (first.id, report.verdict) == (before.causes[0].id, "crash")
    assert first.facts["pid"] == 5120
    assert "died" in first.evidence[0].text
    if raised in parts:
        assert first.summary == before.causes[0].summary


def test_the_error_of_a_pipeline_tells_it_in_one_line(analyze: Analyze) -> None:
    told, before = message(analyze, KILL)
    first = analyze(job=f"Executing: 100%|####| 3/3 [00:02<00:00]\npapermill: {ERROR_NAME}: {told['error']}\n").causes[0]
    assert first.id == before.causes[0].id
    assert first.summary.startswith(before.causes[0].summary)


def test_a_title_that_no_cause_has_and_a_death_without_a_cause_tell_none(analyze: Analyze) -> None:
    for text in ("The kernel died: Something of another version (98%)\n", "The kernel died: its process was ended by signal 9\n"):
        assert analyze(job=f"loading\n{text}").causes[0].id == "notebook.kernel_died"
