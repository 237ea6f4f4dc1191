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
from tests.conftest import text_source

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
        told_parts = ("task", "pid", "limit_bytes", "anon_rss_bytes", "owner", "library")
        assert {n: v for n, v in first.facts.items() if n in told_parts} == {
            n: v for n, v in before.causes[0].facts.items() if n in told_parts
        }


def test_the_error_of_a_pipeline_tells_it_in_one_line(analyze: Analyze) -> None:
    told, before = message(analyze, KILL)
    first = analyze(job=f"Executing: 100%|####| 3/3 [00:02<00:00]\npapermill: {ERROR_NAME}: {told['error']}\n").causes[0]
    assert first.id == before.causes[0].id
    assert first.summary.startswith(before.causes[0].summary)


def test_a_title_that_no_cause_has_and_a_death_without_a_cause_tell_none(analyze: Analyze) -> None:
    for text in ("The kernel died: Something of another version (98%)\n", "The kernel died: its process was ended by signal 9\n"):
        assert analyze(job=f"loading\n{text}").causes[0].id == "notebook.kernel_died"


SERVER = (
    "[W 2026-11-29 21:31:58.885 ServerApp] The kernel of /home/u/train died: Native code crashed with a segmentation fault (98%). "
    "python3 (pid 22717) was ended by a segmentation fault (SIGSEGV). Python was running Cell In[2]:2 in f. Cell [2] was running\n"
)


def test_the_log_of_a_server_names_the_place_too(analyze: Analyze) -> None:
    first = analyze(jupyter_log=SERVER).causes[0]
    assert (first.id, first.where) == ("process.segfault", "python3 (pid 22717), cell 2, line 2")
    assert {n: first.facts[n] for n in ("python_line", "python_function", "pid")} == {
        "python_line": 2, "python_function": "f", "pid": 22717,
    }  # fmt: skip


def test_a_cell_behind_the_death_is_no_failure_and_changes_no_order(analyze: Analyze, tmp_path: Path) -> None:
    died = {"output_type": "error", "ename": ERROR_NAME, "evalue": "its process ended with exit status 3", "traceback": [DIED]}
    said = "not run, the kernel died before: its process ended with exit status 3"
    behind = {"output_type": "error", "ename": ERROR_NAME, "evalue": said, "traceback": [said]}
    cells = [
        {"cell_type": "code", "execution_count": n, "metadata": {}, "outputs": made, "source": []}
        for n, made in ((1, []), (None, [died]), (None, [behind]))
    ]
    (tmp_path / "out.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    report = pipeline.analyze_paths([tmp_path / "out.ipynb"], "", pipeline.database())
    assert report.causes[0].evidence[0].text == DIED
    assert "cell" not in report.causes[0].where, "the cell without a count is not the one above it"
    assert not report.warnings


DIED = "The kernel died: its process ended with exit status 3"


def test_a_warning_of_this_program_is_no_reading(analyze: Analyze) -> None:
    log = "".join(f"step {i} loss {2 / (i + 1) if i < 30 else float('nan'):.4f}\n" for i in range(60))
    warning = "forensics: loss: NaN or infinite since step 30, 0.0667 before\n"
    plain, warned = analyze(train_log=log).causes[0], analyze(train_log=log + warning).causes[0]
    assert plain.summary == warned.summary


@pytest.mark.parametrize("place", ["Cell In[3]:2 in load", "cell 3, line 2"])
def test_the_cell_that_was_told_is_the_place_and_what_to_look_at(place: str) -> None:
    told = (
        "In [3]:\nctypes.string_at(0)\nKernelDied: Native code crashed with a segmentation fault (98%). python3 (pid 2082) was ended "
        f"by a segmentation fault (SIGSEGV). Python was running {place}. Cell [3] was running, at line 2: ctypes.string_at(0)\n"
    )
    first = pipeline.analyze([text_source("server.log", told)], "case", pipeline.database()).causes[0]
    assert (first.id, "cell 3, line 2" in first.where) == ("process.segfault", True)
    assert first.remediations[0].action.startswith("Look at what cell 3, line 2 passes to native code")


def test_the_limit_that_was_told_is_the_one_to_raise(analyze: Analyze, tmp_path: Path, knowledge: Database) -> None:
    limit = (
        "[ 1200.000000] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
        "[ 1200.000000] memory: usage 409600kB, limit 409600kB, failcnt 95\n"
    )
    told, before = message(analyze, limit + KILL)
    (tmp_path / "filled.ipynb").write_text(notebook(raised(told)))
    again = pipeline.analyze_paths([tmp_path / "filled.ipynb"], "", knowledge).causes[0]
    assert (
        again.remediations[0].action == before.causes[0].remediations[0].action == "Ask for more memory than the 400 MiB it had"
    )
    assert again.facts["limit_bytes"] == 400 << 20


def test_a_crash_raises_no_exception_in_what_waited_for_it(analyze: Analyze) -> None:
    raised_by = (
        "Traceback (most recent call last):\n"
        '  File "/opt/lib/python3.11/site-packages/nbclient/client.py", line 918, in _async_handle_timeout\n'
        "    raise DeadKernelError\n"
    )
    text = "The kernel died: Native code crashed with a segmentation fault (98%)\n"
    why = "python (pid 27379) was ended by a segmentation fault (SIGSEGV). Python was running cell 3, line 2 in score.\n"
    assert analyze(job_log=raised_by + text + why).causes[0].where == "python (pid 27379), cell 3, line 2"
