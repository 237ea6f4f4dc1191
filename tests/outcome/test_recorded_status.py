"""An exit status that the kernel gave outranks what the output looks like."""

from pathlib import Path

import pytest

from forensics import Report, analyze
from forensics.outcome.recorded_status import FAILED_STATUS_PROBABILITY, RecordedStatus, share_shown_by_output

AT = "[2026-08-22T03:00:07.120000+00:00] forensics run: "
QUIET = "step 0 loss 0.9\nstep 1 loss 0.8\nstep 2 loss 0.7\n"
LOUD = QUIET + "ERROR: retrying download, attempt 1 of 3\n" + "".join(f"step {i} loss 0.{70 - i}\n" for i in range(3, 63))
COUNTS = (
    AT
    + "memory group / counted no kill; no limit\n"
    + AT
    + "the host counted no memory kill; at least 71 % of its 23.5 GiB were available\n"
)
ENDED = AT + "the command, pid 4711 ({}), ended with exit status {} after 14.2 s\n"


def report(folder: Path, output: str, comm: str, status: int) -> Report:
    (folder / "job.log").write_text(output + COUNTS + ENDED.format(comm, status))
    return analyze(folder)


@pytest.mark.parametrize("output", ["", QUIET, LOUD], ids=["silent", "quiet", "loud"])
def test_a_bad_status_is_a_bad_end_whose_cause_nothing_tells(output: str, tmp_path: Path) -> None:
    told = report(tmp_path, output, "python3", 7)
    assert told.verdict == "undetermined"
    assert told.causes[0].probability < 0.7
    assert told.subject is not None and told.subject.ended_badly >= 0.98
    assert "exit status 7" in told.subject.outcome_lines[0]


def test_with_a_traceback_the_cause_is_named(tmp_path: Path) -> None:
    trace = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    x[7]\nIndexError: list index out of range\n'
    told = report(tmp_path, QUIET + trace, "python3", 1)
    assert (told.verdict, told.causes[0].id) == ("crash", "code.index")


@pytest.mark.parametrize(
    ("comm", "status", "verdict"), [("grep", 1, "no_crash"), ("grep", 2, "undetermined"), ("diff", 1, "no_crash")]
)
def test_a_status_that_is_an_answer_is_no_failure(comm: str, status: int, verdict: str, tmp_path: Path) -> None:
    assert report(tmp_path, "", comm, status).verdict == verdict


def test_a_status_that_nobody_recorded_is_as_likely_bad_as_good_and_a_bad_one_is_bad() -> None:
    ended = {status: RecordedStatus(status, "job.log", 3, "made") for status in (None, 7)}
    assert [ended[status].bad_end_probability(0.1) for status in (None, 7)] == [0.5, FAILED_STATUS_PROBABILITY]
    assert [ended[status].bad_end_probability(0.999) for status in (None, 7)] == [0.999, 0.999]


def test_the_less_the_output_shows_the_less_it_is_the_reason() -> None:
    assert share_shown_by_output(0.0) == 0 and share_shown_by_output(1.0) == 1
    assert share_shown_by_output(0.05) < 0.5 < share_shown_by_output(0.2)
    assert share_shown_by_output(0.5) == pytest.approx(1 / 1.1)  # one bad end in ten is silent


@pytest.mark.parametrize(
    "output", ["", QUIET, "".join(f"step {i}/9 loss 0.{9 - i}\n" for i in range(5))], ids=["silent", "quiet", "counting"]
)
def test_of_a_command_that_still_runs_no_end_is_told(output: str, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(f"{output}{COUNTS}{AT}the command, pid 4711, was still running when this was written\n")
    told = analyze(tmp_path)
    assert told.subject is not None and told.subject.outcome == "going_on"
    assert told.verdict == "no_crash" and "breaks off" not in told.to_text()
    assert "where its threads are" in told.to_text() and "forensics stacks PID" in told.to_text()


def test_a_hang_without_stacks_is_answered_with_how_to_get_them_next_time(tmp_path: Path) -> None:
    silent = f"no output came for 15 min 0 s before the end\n{AT}no stacks were taken: py-spy is not installed"
    ended = "the command, pid 4711 (python3), was ended by signal 15 (SIGTERM) after 914.2 s"
    (tmp_path / "job.log").write_text(f"{QUIET}{AT}{silent}\n{COUNTS}{AT}{ended}\n")
    first = analyze(tmp_path).causes[0]
    assert (first.id, first.remediations[0].commands[0]) == ("process.stalled", "pip install py-spy")
    assert not any("no stacks were taken" in proof.text for proof in first.evidence)  # what could not be seen proves no end
