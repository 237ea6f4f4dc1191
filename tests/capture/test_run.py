"""A command under `run` behaves as it does alone, and its bundle tells how it ended. Every program here is started truly."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.capture.options import Options

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
PYTHON = [sys.executable, "-P", "-m", "forensics.capture", "run"]


def captured(command: list[str], folder: Path) -> list[str]:
    """The command line that runs `command` captured, without the report, which other tests are for."""
    return [*PYTHON, Options(command=command, folder=str(folder), keep="always", report=False, quiet=True).to_json()]


def run_with_helper(options: Options, py_spy: Path) -> list[str]:
    """The command line of a captured run in which the program `py_spy` stands in for py-spy, installed or not."""
    code = (
        "import sys; from forensics.capture import live_stacks, options, foreground; live_stacks.py_spy_path = lambda _: sys.argv[1]\n"
        "foreground.main(options.Options.from_json(sys.argv[2]))"
    )
    return [sys.executable, "-P", "-c", code, str(py_spy), options.to_json()]


# In a shell that the job started: waits until what watches the job (its process id is in $WATCH) watches this shell, too.
WATCHED = r'i=0; until grep -qs "^Pid:[[:space:]]*$$\$" /proc/$WATCH/fdinfo/* || [ $i = 900 ]; do i=$((i+1)); sleep 0.05; done'


def told(folder: Path) -> dict[str, object]:
    return json.loads((folder / "run.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("script", "status", "ended"),
    [
        ("printf 'a\\0b\\377'; printf 'late' >&2; exit 3", 3, {"exit_code": 3}),
        ("cat; exec 1>&-; kill -SEGV $$", -11, {"signal": 11}),
        ("exit 0", 0, {"exit_code": 0}),
    ],
)
def test_status_and_bytes_are_those_of_the_command(script: str, status: int, ended: dict[str, int], tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", script]
    alone = subprocess.run(command, input=b"in\n", capture_output=True, check=False)
    done = subprocess.run(captured(command, tmp_path / "b"), input=b"in\n", capture_output=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (alone.stdout, alone.stderr, alone.returncode)
    assert done.returncode == status
    assert ended.items() <= dict(told(tmp_path / "b")["status"]).items()  # type: ignore[call-overload]


def test_a_command_that_is_not_there_ends_as_in_a_shell(tmp_path: Path) -> None:
    done = subprocess.run(captured(["no-such-command-here"], tmp_path / "b"), capture_output=True, check=False)
    assert done.returncode == 127
    assert b"no-such-command-here: No such file or directory" in done.stderr


def test_killing_run_leaves_the_job_and_its_output(tmp_path: Path) -> None:
    script = f"echo one; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo two"
    running = subprocess.Popen(captured(["/bin/sh", "-c", script], tmp_path / "b"), stdout=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"one\n"
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    (tmp_path / "go").touch()
    assert running.stdout.read() == b"two\n"
    until = time.monotonic() + 200
    while not told(tmp_path / "b").get("complete") and time.monotonic() < until:
        time.sleep(0.05)
    assert told(tmp_path / "b")["status"] == {"exit_code": 0, "how": "child"}


def test_a_signal_to_run_reaches_the_job_once_and_its_sender_is_told(tmp_path: Path) -> None:
    script = "n=0; trap 'n=$((n+1)); echo got $n' TERM; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit 7"
    running = subprocess.Popen(
        captured(["/bin/sh", "-c", script], tmp_path / "b"), stdout=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    os.kill(running.pid, signal.SIGTERM)
    assert running.stdout.read() == b"got 1\n"
    assert running.wait() == 7
    sent = [s for s in told(tmp_path / "b")["signals"] if s["signal"] == signal.SIGTERM]  # type: ignore[attr-defined]
    assert sent[0]["from"] == os.getpid()


def test_a_signal_to_the_whole_group_reaches_the_job_once(tmp_path: Path) -> None:
    script = "n=0; trap 'n=$((n+1)); echo got $n' USR1; echo ready; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3"
    running = subprocess.Popen(
        captured(["/bin/sh", "-c", script], tmp_path / "b"), stdout=subprocess.PIPE, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    os.killpg(running.pid, signal.SIGUSR1)
    assert running.stdout.read() == b"got 1\n"
    running.wait()


def test_the_end_of_a_grandchild_is_known(tmp_path: Path) -> None:
    script = f"export WATCH=$PPID; sh -c '{WATCHED}; kill -9 $$' & wait $!; echo $?; exit 1"
    done = subprocess.run(captured(["/bin/sh", "-c", script], tmp_path / "b"), capture_output=True, check=False)
    assert done.stdout == b"137\n"
    exits = [json.loads(line) for line in (tmp_path / "b" / "exits.jsonl").read_text().splitlines()]
    assert [e["signal"] for e in exits if "signal" in e] == [9]
    assert "was ended by signal 9 (SIGKILL)" in (tmp_path / "b" / "job.log").read_text()


PIDS = Path("/sys/fs/cgroup/pids")
BOMB = "import os, time\nfor i in range(200):\n    if os.fork() == 0:\n        time.sleep(1)\n        os._exit(0)"


@pytest.fixture
def few_processes() -> Iterator[Path]:
    folder = PIDS / f"forensics-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "pids.max").write_text("30")
    except OSError:
        pytest.skip("needs a group of version 1 that limits processes and may be made")
    yield folder
    until = time.monotonic() + 60
    while folder.exists() and time.monotonic() < until:
        try:
            folder.rmdir()
        except OSError:
            time.sleep(0.1)


def test_a_job_that_fills_its_limit_of_processes_is_captured_to_its_end(few_processes: Path, tmp_path: Path) -> None:
    join = f'echo $$ > {few_processes}/cgroup.procs; exec "$@"'
    line = ["/bin/sh", "-c", join, "sh", *captured([sys.executable, "-c", BOMB], tmp_path / "b")]
    done = subprocess.run(line, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"BlockingIOError" in done.stderr
    assert told(tmp_path / "b")["complete"] is True
    assert "ended with exit status 1" in (tmp_path / "b" / "job.log").read_text().splitlines()[-1]


@pytest.mark.parametrize("files", [8, 10, 12])
def test_a_quiet_run_that_cannot_be_captured_says_nothing(files: int) -> None:
    options = Options(command=["/bin/sh", "-c", "exit 4"], quiet=True).to_json()
    few_files = f"ulimit -n {files}; exec {sys.executable} -P -m forensics.capture run '{options}'"
    done = subprocess.run(["/bin/sh", "-c", few_files], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (4, b"")
