"""A run that `forensics run` captured, in the history: its name, what it was given, and whether the next one ended well."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs the extra history")

from forensics.history.jobs import captured_run, name_of
from forensics.history.opening import open_store
from tests.commandline import in_text

TRAIN = """
import sys
size = int(sys.argv[2])
def batch():
    if size > 16: raise ValueError(f"batch size {size} does not fit")
batch()
"""


def run(folder: Path, size: int, bundle: str = "") -> "subprocess.CompletedProcess[str]":
    kept = ["--folder", str(folder / bundle)] if bundle else []
    asked = [sys.executable, "-P", "-m", "forensics", "run", *kept, "--", sys.executable, "train.py", "--batch-size", str(size)]
    env = os.environ | {"FORENSICS_HISTORY": str(folder / "h.db"), "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(asked, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.seconds
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have the plain capture, which knows less")
def test_a_failure_that_did_not_return_after_a_change_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    first, well, again = run(tmp_path, 64, "first"), run(tmp_path, 8), run(tmp_path, 64)
    assert [first.returncode, well.returncode, again.returncode] == [1, 0, 1]
    assert "The history has nothing like it." in first.stderr
    assert well.stderr == ""
    assert "Seen once before" in again.stderr
    assert "after --batch-size 8 it did not return" in " ".join(again.stderr.split())
    store = open_store(str(tmp_path / "h.db"))
    assert [row["verdict"] for row in store.listed()] == ["crash", "crash"]
    store.close()
    same = in_text("history", "same", tmp_path / "first", FORENSICS_HISTORY=str(tmp_path / "h.db")).stdout
    assert "Seen once before" in same
    assert same.count("code.exception") == 1  # the other one
    known = captured_run(tmp_path / "first")
    assert known is not None
    assert (known.known.run, known.job["state"]) == ("train.py", "FAILED")
    assert known.job["asked"].endswith("--batch-size 64;")
    assert known.job["run"] == f"{tmp_path.name}/train.py"  # another folder has another train.py
    told = json.loads((tmp_path / "first" / "run.json").read_text())
    told["identity"] = {"slurm": {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "train"}}
    told["status"], told["groups"] = {"signal": 15}, [{"own": True, "limit_bytes": 400 << 20}]
    (tmp_path / "first" / "run.json").write_text(json.dumps(told))
    known = captured_run(tmp_path / "first")
    assert known is not None
    assert (known.known.job, known.known.run, known.job["state"]) == ("4711", "train", "CANCELLED")
    assert known.job["asked"].startswith("a memory limit of 400 MiB;")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python train.py --lr 0.1", "train.py"),
        ("torchrun --nproc-per-node 8 /home/alice/proj/train.py", "train.py"),
        ("python -m pkg.train --epochs 3", "pkg.train"),
        ("/opt/bin/solver in.txt", "solver"),
    ],
)
def test_a_run_has_the_name_of_its_script(command: str, name: str) -> None:
    assert name_of(command.split()) == name


def test_what_is_no_captured_run_is_none(tmp_path: Path) -> None:
    assert captured_run(tmp_path) is None
    (tmp_path / "run.json").write_text('{"command": {"arguments": ["a"]}, "end": 7, "start": []}')
    assert captured_run(tmp_path) is None
