"""`forensics runs`: captured runs as a table, found by number, folder, job and date; shown, opened, removed - never a running one."""

import json
import os
import tarfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from forensics.capture import proc
from forensics.capture.bundle import Bundle
from tests.commandline import in_text

LOG = "step 1 loss 2.3\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"


def made(runs: Path, name: str, age_s: float, record: dict[str, Any], log: str = LOG) -> Path:
    """A bundle of the state folder that began `age_s` ago and took a minute."""
    bundle, start = runs / name, time.time() - age_s
    bundle.mkdir(parents=True)
    (bundle / "job.log").write_text(log)
    begun, ended = (datetime.fromtimestamp(at, UTC).isoformat() for at in (start, start + 60))
    told: dict[str, Any] = {
        "schema": "forensics-run/1",
        "complete": True,
        "start": begun,
        "end": ended,
        "host": {"name": "node7"},
    }
    (bundle / "run.json").write_text(json.dumps(told | record))
    return bundle


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("FORENSICS_RUNS", str(folder))
    train = {"arguments": ["python", "/home/u/train.py"], "folder": "/home/u/lab", "pid": 71}
    made(folder, "old", 9000, {"command": train, "status": {"signal": 11}, "identity": {"slurm": {"SLURM_JOB_ID": "4711"}}})
    made(folder, "new", 600, {"command": {"arguments": ["sh", "x.sh"], "folder": "/srv", "pid": 72}, "status": {"exit_code": 3}})
    return folder


@pytest.fixture
def running(runs: Path) -> Path:
    """The bundle of this process, which goes on."""
    host = {"name": "node7", "boot_id": proc.boot_id()}
    command = {"arguments": ["pytest"], "folder": "/srv", "pid": os.getpid()}
    record = {"complete": False, "end": None, "host": host, "command": command, "clock": {"since_boot_s": 1e12}}
    return made(runs, "going", 5, record)


def listed(*options: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(in_text("runs", "-f", "json", *options).stdout)
    return found


def test_runs_are_listed_the_newest_first_and_running_ones_are_marked(running: Path) -> None:
    rows = listed()
    assert [(r["number"], r["command"], r["ended"], r["running"]) for r in rows] == [
        (1, "pytest", "running", True),
        (2, "sh x.sh", "exit status 3", False),
        (3, "python /home/u/train.py", "signal 11 (SIGSEGV)", False),
    ]
    assert (rows[0]["seconds"], rows[2]["seconds"], rows[2]["job"]) == (None, 60.0, "4711")
    assert [r["cause"] for r in rows] == ["", "not analysed", "not analysed"]
    text = in_text("runs").stdout
    assert "python train.py" in text and "60.0 s" in text.replace("1 min", "60.0 s")


@pytest.mark.parametrize(("verdict", "shown"), [("crash", "code.exception"), ("undetermined", "unknown")])
def test_a_kernel_is_listed_by_its_notebook_and_a_guess_is_no_cause(runs: Path, verdict: str, shown: str) -> None:
    arguments = ["python", "-m", "ipykernel_launcher"]
    bundle = made(runs, "kernel", 5, {"command": {"arguments": arguments}, "notes": {"notebook": "/home/u/train.ipynb"}})
    (bundle / "report.json").write_text(json.dumps({"verdict": verdict, "causes": [{"id": "code.exception"}]}))
    assert (listed()[0]["command"], listed()[0]["cause"]) == ("kernel of /home/u/train.ipynb", shown)


def test_a_filter_leaves_the_numbers_as_they_are(runs: Path) -> None:
    assert [r["number"] for r in listed("--folder", "/home/u")] == [2]
    assert [r["number"] for r in listed("--job", "4711")] == [2]
    assert [r["number"] for r in listed("--job", "x.sh")] == [1]
    assert [r["number"] for r in listed("--since", "1h")] == [1]
    assert [r["number"] for r in listed("--until", "1h")] == [2]
    none = in_text("runs", "--folder", "/nowhere")
    assert (none.returncode, none.stdout, none.stderr.count("\n")) == (0, "", 1)


def test_why_takes_a_number_a_folder_or_a_packed_bundle(runs: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "bundle.tar.gz", "w:gz") as packed:
        packed.add(runs / "old", "old")
    for named in ("2", runs / "old", "old", tmp_path / "bundle.tar.gz"):
        assert "code.shape" in in_text("why", named).stdout.splitlines()[0]
    assert in_text("runs", "show", "2").stdout == in_text("why", "2").stdout


@pytest.mark.seconds
def test_a_page_is_written_once_and_is_no_evidence_later(runs: Path) -> None:
    for _ in range(2):
        (page,) = in_text("runs", "open", "1").stdout.splitlines()
    assert Path(page).read_text().startswith("<!DOCTYPE html>")
    assert "report.html" not in in_text("why", "1", "--again").stdout


def test_what_is_removed_is_asked_for_and_never_runs(running: Path, runs: Path) -> None:
    asked = in_text("runs", "remove", "2")
    assert (asked.returncode, (runs / "new").is_dir()) == (2, True)
    refused = in_text("runs", "remove", "2", "1", "--yes")
    assert (refused.returncode, (runs / "new").is_dir(), running.is_dir()) == (2, True, True)
    assert in_text("runs", "remove", "2", "--yes").returncode == 0
    assert [r["command"] for r in listed()] == ["pytest", "python /home/u/train.py"]
    other = runs.parent / "not a run"
    other.mkdir()
    assert in_text("runs", "remove", other, "--yes").returncode == 2 and other.is_dir()


def test_a_run_in_a_folder_of_its_own_is_listed_once_and_only_its_files_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "runs"))
    folder, other = tmp_path / "lab" / "mine", tmp_path / "lab" / "other"
    for program, where in (("train.py", folder), ("fit.py", other), ("again.py", folder)):
        Bundle(str(where), program).release()
        (where / "run.json").write_text(json.dumps({"command": {"arguments": [program]}, "complete": True}))
        (where / "job.log").write_text(LOG)
    (folder / "own.txt").write_text("of somebody")
    assert {(r["command"], r["bundle"]) for r in listed()} == {("again.py", str(folder)), ("fit.py", str(other))}
    number = next(r["number"] for r in listed() if r["command"] == "again.py")
    assert in_text("runs", "remove", number, "--yes").returncode == 0
    assert [p.name for p in folder.iterdir()] == ["own.txt"]
    assert [r["command"] for r in listed()] == ["fit.py"]


def test_the_history_names_the_folder_of_a_run_while_it_is_kept(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    place = tmp_path / "h.db"
    (tmp_path / "c.yaml").write_text(f"history: {place}\n")
    env = {"FORENSICS_CONFIG": str(tmp_path / "c.yaml")}
    assert in_text("why", "2", "--remember", **env).returncode == 0
    (row,) = json.loads(in_text("history", "list", "-f", "json", **env).stdout)
    assert json.loads(in_text("history", "list", "-f", "json", "--since", "2999-01-01", **env).stdout) == []
    assert len(json.loads(in_text("history", "list", "-f", "json", "--since", "2000-01-01", **env).stdout)) == 1
    assert row["bundle"] == str(runs / "old")
    table = in_text("history", "list", **env).stdout
    assert "  old  " in table and row["job"] not in table
    assert in_text("runs", "remove", "2", "--yes", **env).returncode == 0
    (row,) = json.loads(in_text("history", "list", "-f", "json", **env).stdout)
    assert row["bundle"] == ""


@pytest.mark.parametrize(("lives", "ended", "cause"), [(True, "just now", ""), (False, "capture was cut off", "not analysed")])
def test_a_run_whose_capture_still_writes_was_not_cut_off(lives: bool, ended: str, cause: str, runs: Path) -> None:
    """However long it ran: what it writes last may be as old as its start."""
    host, clock = {"name": "node7", "boot_id": proc.boot_id()}, {"since_boot_s": 1e12}
    record = {"complete": False, "end": None, "host": host, "clock": clock, "command": {"arguments": ["sh"], "pid": 0}}
    bundle = made(runs, "ending", 600, record | {"tool": {"name": "forensics", "pid": os.getpid() if lives else 0}})
    for file in bundle.iterdir():
        os.utime(file, (time.time() - 600,) * 2)
    assert [(r["ended"], r["cause"]) for r in listed() if r["command"] == "sh"] == [(ended, cause)]
