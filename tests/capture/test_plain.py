"""Where the system is not Linux: status and output are taken, and it is said what is not."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from forensics.capture.bundle import REPORT, REPORT_HEAD
from forensics.capture.options import Options
from forensics.capture.reporting import shown_report
from tests.capture.test_bundle import SCHEMA

AS = "import runpy, sys\nsys.platform = sys.argv.pop(1)\nrunpy.run_module('forensics.capture', run_name='__main__')\n"


@pytest.mark.parametrize("system", ["darwin", "win32"])
@pytest.mark.parametrize(
    ("script", "status", "told"), [("echo out; echo err >&2; exit 3", 3, {"exit_code": 3}), ("kill -9 $$", 137, {"signal": 9})]
)
def test_status_output_and_a_word_on_the_rest(
    system: str, script: str, status: int, told: dict[str, int], tmp_path: Path
) -> None:
    options = Options(command=["/bin/sh", "-c", script], folder=str(tmp_path / "b"), report=False)
    line = [sys.executable, "-c", AS, system, "run", options.to_json()]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    alone = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, alone.stdout, alone.stderr)
    run = json.loads((tmp_path / "b" / "run.json").read_text())
    jsonschema.validate(run, SCHEMA)
    assert told.items() <= run["status"].items()
    assert {c["what"] for c in run["closed"]} >= {"memory groups", "the kernel's log", "who sent a signal", "stacks"}
    assert all(c["why"] == f"not taken on {system}" for c in run["closed"])


@pytest.mark.seconds
def test_after_a_death_the_screen_says_what_was_not_taken(tmp_path: Path) -> None:
    options = Options(command=["/bin/sh", "-c", "echo 'Killed' >&2; exit 1"], folder=str(tmp_path / "b"))
    line = [sys.executable, "-c", AS, "darwin", "run", options.to_json()]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not taken on darwin: the end of other processes than the command, memory groups" in done.stderr
    assert "job.log" in done.stderr


def test_a_good_end_leaves_nothing(tmp_path: Path) -> None:
    options = Options(command=["/bin/true"], folder=str(tmp_path / "b"))
    done = subprocess.run(
        [sys.executable, "-c", AS, "darwin", "run", options.to_json()], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "b").exists()


def test_the_report_goes_to_the_file_of_output(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / REPORT).write_text(REPORT_HEAD + "Why it died\n")
    wanted = tmp_path / "report.txt"
    assert "report.txt" in shown_report(str(tmp_path / "b"), Options(command=["x"], output=str(wanted)))
    assert wanted.read_text() == "Why it died\n"
    assert shown_report(str(tmp_path / "b"), Options(command=["x"])) == "\nWhy it died\n"
    refused = shown_report(str(tmp_path / "b"), Options(command=["x"], output=str(tmp_path / "no" / "r.txt")))
    assert "Why it died" in refused and "could not be written there" in refused
