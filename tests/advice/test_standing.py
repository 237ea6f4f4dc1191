"""Stacks that were taken of one process are told: both threads of a deadlock, and where a living process stands."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.model import Report
from forensics.report import render

STAMP = "[2026-11-29T21:19:05.403807+00:00] forensics run: "
PROCESS = "forensics run: stacks of pid 9361 (python); in the kernel: futex\nProcess 9361: python train.py\nPython v3.11.7 (/usr/bin/python)\n"
MAIN = '\nThread 9361 (idle): "MainThread"\n    save_checkpoint (/run/train.py:6)\n    <module> (/run/train.py:14)\n'
SECOND = (
    'Thread 9370 (idle): "prefetch"\n    wait (threading.py:320)\n    prefetch (/run/train.py:10)\n'
    "    Thread.run (/usr/lib/python3.11/threading.py:982)\n"
)
IDLE = 'Thread 9371 (idle): "pool"\n    wait (/usr/lib/python3.11/threading.py:320)\n'


def told(folder: Path, stacks: str, log: str) -> Report:
    (folder / "stacks").mkdir()
    (folder / "stacks" / "9361.txt").write_text(PROCESS + stacks)
    (folder / "job.log").write_text("".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in range(5)) + log)
    return analyze(folder, workers=1)


@pytest.mark.parametrize("both", [True, False])
def test_a_run_that_hung_is_told_with_where_its_threads_stood(both: bool, tmp_path: Path) -> None:
    account = (
        f"{STAMP}no output came for 38.3 s before the end\n"
        f"{STAMP}in that silence pid 9361 (python) stood in save_checkpoint (/run/train.py:6)\n"
        f"{STAMP}the command, pid 9361 (python), was ended by signal 2 (SIGINT) after 39.4 s\n"
    )
    report = told(tmp_path, MAIN + (SECOND if both else "") + IDLE, account)
    first = report.causes[0]
    assert (first.id, first.facts["python_line"]) == ("process.stalled", 6)
    threads = "save_checkpoint at /run/train.py:6 and prefetch at /run/train.py:10"
    assert (threads in first.summary, threads in first.remediations[0].action) == (both, both)
    assert "/run/train.py:6" in first.remediations[0].action
    assert not any("stacks" in question.what for question in report.missing)
    assert not any("PID" in command for remedy in first.remediations for command in remedy.commands)


def test_a_log_that_breaks_off_is_told_with_where_its_process_stood(tmp_path: Path) -> None:
    report = told(tmp_path, MAIN + SECOND + IDLE, "")
    places = [(n.text, n.why) for n in report.notices]
    why = "thread {} of pid 9361 stood here when its stacks were taken"
    assert places == [
        ("save_checkpoint (/run/train.py:6)", why.format("MainThread")),
        ("prefetch (/run/train.py:10)", why.format("prefetch")),
    ]
    assert "\nwhere it was\n" in render(report, "text")


@pytest.mark.parametrize("apart", [True, False])
def test_a_process_that_was_looked_at_twice_has_each_thread_once(apart: bool, tmp_path: Path) -> None:
    moved = MAIN.replace("save_checkpoint (/run/train.py:6)", "drain (/run/train.py:8)")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "9361.txt").write_text(PROCESS + MAIN + SECOND + ("" if apart else PROCESS + moved + SECOND))
    if apart:
        (tmp_path / "stacks" / "9361-2.txt").write_text(PROCESS + moved + SECOND)
    (tmp_path / "job.log").write_text("".join(f"step {i} loss {1 / (i + 1):.3f}\n" for i in range(5)))
    places = [n.text for n in analyze(tmp_path, workers=1).notices]
    assert len(places) == 2
    assert "prefetch (/run/train.py:10)" in places
