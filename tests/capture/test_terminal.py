"""A command under `run` on a terminal: it has a terminal of the same size, its keys reach it, and both stop and continue together."""

import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from forensics.capture.options import Options

pytestmark = [pytest.mark.seconds, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]
LIMIT_S = 120.0
JOB = """
import os, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
signal.signal(signal.SIGWINCH, lambda *_: print("size", *os.get_terminal_size(1), flush=True))
signal.signal(signal.SIGCONT, lambda *_: print("continued", flush=True))
print("begun", *os.get_terminal_size(1), *map(os.isatty, (0, 1, 2)), flush=True)
for line in iter(sys.stdin.readline, "end\\n") if os.isatty(0) else iter(lambda: time.sleep(0.05) or os.path.exists("go"), True):
    print("got", line, flush=True) if line else None
sys.exit(3)
"""


def changed(pid: int) -> int:
    """The wait status of a child, when it has stopped or ended."""
    last = time.monotonic() + LIMIT_S
    while time.monotonic() < last:
        found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if found:
            return status
        time.sleep(0.02)
    raise AssertionError("it neither stopped nor ended")


class Terminal:
    """`forensics run` on a pty of its own, whose other end a test holds."""

    def __init__(self, folder: Path, typed: bool) -> None:
        self.bundle, self.shown = folder / "b", ""
        options = Options(command=[sys.executable, "-c", JOB], folder=str(self.bundle), keep="always", report=False, quiet=True)
        self.pid, self.end = pty.fork()
        if not self.pid:
            os.chdir(folder)
            if not typed:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.execv(sys.executable, [sys.executable, "-P", "-m", "forensics.capture", "run", options.to_json()])
        self.resize(80, 24)

    def resize(self, columns: int, rows: int) -> None:
        ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self.end, keys)

    def until(self, text: str) -> None:
        """Read what is shown until it holds `text`, behind what earlier calls waited for."""
        last = time.monotonic() + LIMIT_S
        while text not in self.shown:
            assert time.monotonic() < last, f"{text!r} did not come: {self.shown!r}"
            if select.select([self.end], [], [], 1.0)[0]:
                self.shown += os.read(self.end, 4096).decode()
        self.shown = self.shown.partition(text)[2]

    def changed(self) -> int:
        return changed(self.pid)

    def close(self) -> None:
        os.close(self.end)


@pytest.fixture(params=[True, False], ids=["keys", "no keys"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, request.param)
    made.until(f"begun 80 24 {request.param} True True")
    yield made
    made.close()


@pytest.mark.parametrize("terminal", [True], indirect=True)
def test_what_is_typed_reaches_the_command_and_its_output_the_terminal(terminal: Terminal) -> None:
    terminal.type(b"hello\n")
    terminal.until("got hello")
    terminal.type(b"\x03")
    terminal.until("interrupted")
    terminal.resize(100, 30)
    terminal.until("size 100 30")
    terminal.type(b"\x1a")
    assert os.WIFSTOPPED(terminal.changed())  # Ctrl-Z: the shell has its terminal back
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.until("continued")
    terminal.type(b"end\n")
    assert os.waitstatus_to_exitcode(terminal.changed()) == 3
    log = (terminal.bundle / "job.log").read_bytes()
    assert b"got hello\n" in log
    assert b"\r" not in log
    assert json.loads((terminal.bundle / "run.json").read_text())["status"]["exit_code"] == 3


@pytest.mark.parametrize("terminal", [False], indirect=True)
def test_keys_reach_a_command_that_reads_no_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type(b"\x03")
    terminal.until("interrupted")
    terminal.type(b"\x1a")
    assert os.WIFSTOPPED(terminal.changed())
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.until("continued")
    (tmp_path / "go").touch()
    assert os.waitstatus_to_exitcode(terminal.changed()) == 3
    assert {s["signal"] for s in json.loads((terminal.bundle / "run.json").read_text())["signals"]} == {signal.SIGINT}


WAITS = """
import os, sys, time
print(os.getpid(), os.getppid(), flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
sys.exit(4)
"""


def running(place: Path, *command: str, **options: object) -> subprocess.Popen[bytes]:
    wanted = Options(
        command=list(command) or [sys.executable, "-c", WAITS], **{"folder": str(place / "b"), "report": False, **options}
    )
    command = [sys.executable, "-P", "-m", "forensics.capture", "run", wanted.to_json()]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)


def test_without_a_terminal_both_stop_and_continue_together(tmp_path: Path) -> None:
    """As a shell's job control does to a command whose output goes to a file."""
    made = running(tmp_path)
    assert made.stdout is not None
    job = int(made.stdout.readline().split()[0])
    os.killpg(made.pid, signal.SIGTSTP)
    assert os.WIFSTOPPED(changed(made.pid))
    assert state_of(job) == "T"
    (tmp_path / "go").touch()
    os.killpg(made.pid, signal.SIGCONT)  # once is enough
    assert made.wait(LIMIT_S) == 4


def test_a_command_that_is_stopped_and_continued_by_its_id_takes_run_with_it(tmp_path: Path) -> None:
    made = running(tmp_path)
    assert made.stdout is not None
    job = int(made.stdout.readline().split()[0])
    for _ in range(3):
        os.kill(job, signal.SIGSTOP)
        assert os.WIFSTOPPED(changed(made.pid))
        assert state_of(job) == "T"
        os.kill(job, signal.SIGCONT)
        last = time.monotonic() + LIMIT_S
        while state_of(made.pid) == "T" and time.monotonic() < last:
            time.sleep(0.02)
        assert state_of(made.pid) != "T"
    (tmp_path / "go").touch()
    assert made.wait(LIMIT_S) == 4


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_command_whose_bundle_cannot_be_made_runs_as_it_does_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    made = running(tmp_path, "/bin/sh", "-c", "echo out; exit 5", folder=str(tmp_path / "file" / "b"))
    out, err = made.communicate(timeout=LIMIT_S)
    assert (out, made.returncode) == (b"out\n", 5)
    assert err.decode() == f"forensics: nothing is captured: {tmp_path}/file/b: Not a directory\n"


def test_where_what_watches_is_killed_run_waits_for_the_command_all_the_same(tmp_path: Path) -> None:
    made = running(tmp_path)
    assert made.stdout is not None
    keeper, last = int(made.stdout.readline().split()[1]), time.monotonic() + LIMIT_S
    while not (tmp_path / "b" / "run.json").exists() and time.monotonic() < last:
        time.sleep(0.05)
    os.kill(keeper, signal.SIGKILL)
    with pytest.raises(subprocess.TimeoutExpired):
        made.wait(1.0)
    (tmp_path / "go").touch()
    assert made.wait(LIMIT_S) in (4, 255)  # before Linux 6.15 nobody but the parent is told the status
