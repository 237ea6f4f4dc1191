"""Guards and watches: the folders that they fill, and what is told to them after the process has ended."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics import watch
from forensics.capture.guard import Guard, _new_folder


def test_two_guards_of_one_second_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    name = "20261123-204149-train-27105"
    assert [Path(_new_folder(name)).name for _ in range(3)] == [name, f"{name}-2", f"{name}-3"]


def test_what_is_noted_soon_after_the_end_is_in_the_bundle(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        held = watch(process.pid, bundle=tmp_path / "run", report=False)
        process.kill()
        process.wait()
        time.sleep(0.5)
        held.note(notebook="train.ipynb", cell=4)
        held.release()
    assert held.wait(30)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["notes"] == {"notebook": "train.ipynb", "cell": 4}


@pytest.mark.parametrize(
    ("error", "failed"),
    [(RuntimeError("closed by peer"), True), (SystemExit(3), False), (KeyboardInterrupt(), False), (None, False)],
)
def test_a_rank_that_ends_by_an_exception_dumps_its_calls(error: BaseException | None, failed: bool) -> None:
    held, told = Guard(), list[bool]()
    listener: Any = SimpleNamespace(close=lambda failed: told.append(failed))
    held._listener = listener
    held.__exit__(type(error) if error else None, error, None)
    assert told == [failed]
