"""Guards and watches: the folders that they fill, and what is told to them after the process has ended."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics import watch
from forensics.capture.guard import Guard, _new_folder, last_bundle


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


# Each is a program that runs to its end alone, and does so under guard().
PROGRAMS = {
    "facts of any kind": "with guard() as g:\n    loop = []; loop.append(loop)\n    g.note(a={1}, b=object(), c=loop)\nprint('end')",
    "no thread": "import threading\ndef no(thread): raise RuntimeError('no')\nthreading.Thread.start = no\nos.environ['RANK'] = '0'\n"
    "with guard(warn=True): pass\nprint('end')",
    "no interpreter": "sys.executable = None\nwith guard(): pass\nprint('end')",
    "no arguments": "sys.argv = []\nwith guard(): pass\nprint('end')",
    "no folder": "import tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d); sys.argv = ['a.py']\nwith guard(): pass\nprint('end')",
    "stderr without a reader": "r, w = os.pipe(); os.dup2(w, 2); os.close(r); os.environ['FORENSICS_RUNS'] = '/proc/x'\n"
    "with guard(): pass\nprint('end')",
    "no stderr": "sys.stderr = None; os.environ['FORENSICS_RUNS'] = '/proc/x'\nwith guard(): pass\nprint('end')",
    "the watching process is gone": "import signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwith guard() as g:\n    to_watching(9)\n"
    "    for step in range(3): g.note(step=step)\nprint('end')",
    "the watching process does not read": "with guard(keep='never', report=False) as g:\n    to_watching(19); begun = time.monotonic()\n"
    "    for step in range(3000): g.note(step='x' * 1000)\n    took = time.monotonic() - begun; to_watching(18)\n"
    "print('end' if took < 5 else took)",
    "files that it does not know are closed": "out = os.dup(1)\nwith guard(report=False):\n    for fd in range(3, 1024):\n"
    "        try: fd == out or os.close(fd)\n        except OSError: pass\n"
    "    files = [open(os.devnull, 'w') for _ in range(40)]\nprint('end' if all(f.write('x') and f.flush() is None for f in files) else '')",
    "its numbers are given to others": "os.environ['RANK'] = '0'\nwith guard(report=False, tell=False):\n"
    "    ours = [int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2 and os.path.exists(f'/proc/self/fd/{n}')]\n"
    "    pipes = [os.pipe() for _ in ours]\n    for fd, (_, w) in zip(ours, pipes): os.dup2(w, fd)\n"
    "import select\nprint('end' if len(ours) > 3 and not select.select([r for r, _ in pipes], [], [], 0)[0] else 'written')",
    "its own place of crashes": "import faulthandler\nwith guard(): faulthandler.enable()\nprint('end' if faulthandler.is_enabled() else 'off')",
}
HEAD = """
import glob, os, sys, time
from forensics import guard
def to_watching(number):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try: line = open(path).read()
        except OSError: continue
        if "forensics.capture" in line and f'"pid": {os.getpid()},' in line: os.kill(int(path.split("/")[2]), number)
    time.sleep(0.2)
"""


@pytest.mark.seconds
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("program", list(PROGRAMS))
def test_a_program_ends_as_it_does_without_the_guard(program: str, tmp_path: Path) -> None:
    environment = os.environ | {"FORENSICS_RUNS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + PROGRAMS[program]],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


@pytest.mark.seconds
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_copy_of_the_program_that_leaves_the_block_does_not_end_the_watch(tmp_path: Path) -> None:
    code = "with guard(keep='always', report=False) as g:\n    if os.fork() == 0: sys.exit(0)\n    os.wait(); g.note(step=7); os._exit(9)"
    environment = os.environ | {"FORENSICS_RUNS": str(tmp_path)}
    subprocess.run([sys.executable, "-c", HEAD + code], env=environment, timeout=120, check=False)
    until = time.monotonic() + 60
    while not (told := [r for f in tmp_path.glob("*/run.json") if (r := json.loads(f.read_text()))["complete"]]):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert (told[0]["notes"], told[0]["status"]["exit_code"]) == ({"step": 7}, 9)


def test_a_folder_that_goes_away_meanwhile_hides_no_other(tmp_path: Path) -> None:
    for name, run in (("a", {"command": [1]}), ("b", {"command": {"name": "x"}, "complete": True})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(run))
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert last_bundle("x", str(tmp_path)) == str(tmp_path / "b")
