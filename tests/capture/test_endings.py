"""Ends that need no report: a key of the user, a command that is not there. And one that does: a kill behind a good status."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture.account import memory_kill, was_interrupted

pytestmark = [pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"), pytest.mark.seconds]
RUN = [sys.executable, "-P", "-m", "forensics", "run"]


def bundles(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize(
    ("name", "status", "why"), [("no-such-command", 127, "No such file"), ("./plain", 126, "Permission denied")]
)
def test_a_command_that_cannot_start_is_one_line_and_no_bundle(name: str, status: int, why: str, tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    environment = os.environ | {"FORENSICS_RUNS": str(tmp_path / "runs")}
    done = subprocess.run([*RUN, "--", name], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == status
    assert len(done.stderr.splitlines()) == 1 and why in done.stderr
    assert bundles(tmp_path / "runs") == []


@pytest.mark.parametrize("to_file", [False, True], ids=["terminal", "output in a file"])
def test_the_interrupt_key_is_one_line_and_no_bundle(to_file: bool, tmp_path: Path) -> None:
    """In a session whose terminal is a pty: its key reaches the job through our pty, or the whole group."""
    job = f"import pathlib, time; pathlib.Path({str(tmp_path / 'ready')!r}).touch(); time.sleep(60)"
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["FORENSICS_RUNS"] = str(tmp_path / "runs")
        if to_file:
            out = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
        os.execv(sys.executable, [*RUN, "--", sys.executable, "-c", job])
    until = time.monotonic() + 60
    while not (tmp_path / "ready").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.3)
    os.write(terminal, b"\x03")
    shown = b""
    try:
        while data := os.read(terminal, 4096):
            shown += data
    except OSError:  # nobody has the terminal open any more
        pass
    _, status = os.waitpid(pid, 0)
    text = (tmp_path / "out").read_text() if to_file else shown.decode()
    assert os.waitstatus_to_exitcode(status) == -signal.SIGINT
    ours = [line for line in text.splitlines() if line.startswith("forensics:")]
    assert ours == ["forensics: interrupted by Ctrl-C at the terminal"], text
    assert "what to do" not in text
    assert bundles(tmp_path / "runs") == []


def ended(*ends: dict[str, Any], kills: int = 0, named: int = 0, spell: object = None) -> Any:
    """A collector that has recorded `ends`; its memory group counted `kills`, the kernel's log names pid `named`."""
    return SimpleNamespace(
        root=1,
        tree=SimpleNamespace(ends=list(ends)),
        groups=SimpleNamespace(as_record=lambda: [{"own": True, "kills": kills}]),
        kernel=SimpleNamespace(killed_name=lambda pid: "python" if pid == named else ""),
        silence=SimpleNamespace(spell=spell),
    )


def test_a_kill_for_memory_is_told_where_counter_or_log_show_it() -> None:
    worker = {"pid": 7, "comm": "python", "signal": 9, "end": 1.0}
    assert memory_kill(ended(worker)) == ""  # by whom is not known
    assert memory_kill(ended({**worker, "signal": 15}, kills=1)) == ""
    for found in (ended(worker, kills=1), ended({**worker, "pid": 8}, worker, named=7)):
        assert memory_kill(found) == "the kernel killed pid 7 (python) for memory"


def test_an_interrupt_is_explained_if_something_went_wrong_before() -> None:
    now = time.time()
    by_signal, by_status = int(signal.SIGINT), 130 << 8
    child = {"pid": 7, "comm": "python", "signal": 2, "end": now}
    assert was_interrupted(ended(child), by_signal, now) and was_interrupted(ended(), by_status, now)
    assert not was_interrupted(ended(), by_signal, 0.0)  # by another process
    assert not was_interrupted(ended(), 1 << 8, now)
    assert not was_interrupted(ended(spell=(now - 900, now)), by_signal, now)
    assert not was_interrupted(ended({**child, "signal": 11, "end": now - 60}), by_signal, now)
    assert not was_interrupted(ended({**child, "signal": 9}, kills=1), by_signal, now)
