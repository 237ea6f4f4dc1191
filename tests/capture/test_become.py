"""Whatever the command was started with - closed streams, long arguments, signals, limits - `run` starts it as it starts alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forensics.capture.options import Options

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"), pytest.mark.seconds]
SIGNALS = ["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"]
STREAMS = (
    "import os, sys; os.write({out}, str([os.path.exists(f'/proc/self/fd/{{f}}') for f in (0, 1, 2)]).encode()); sys.exit(3)"
)


def run_line(command: list[str], folder: Path, **more: object) -> list[str]:
    """The command line that runs `command` captured."""
    return Options(command=command, **{"folder": str(folder / "b"), "report": False, "quiet": True, **more}).run_line()


def alone_and_captured(line: str, command: list[str], folder: Path) -> list[tuple[int, bytes, bytes]]:
    """What a shell sees of `"$@"` in `line`, for the command and for the captured command."""
    found = []
    for words in (command, run_line(command, folder)):
        done = subprocess.run(["/bin/bash", "-c", line, "bash", *words], capture_output=True, check=False, timeout=120)
        found.append((done.returncode, done.stdout, done.stderr))
    return found


@pytest.mark.parametrize(("closed", "out"), [(">&-", 2), ("2>&-", 1), ("<&- >&-", 2), ("<&- >&- 2>&-", 9), ("<&-", 1)])
def test_streams_that_are_closed_are_closed_for_the_command(closed: str, out: int, tmp_path: Path) -> None:
    line = f'exec 9>{tmp_path}/nine; "$@" {closed}; code=$?; cat {tmp_path}/nine; exit $code'
    alone, captured = alone_and_captured(line, [sys.executable, "-c", STREAMS.format(out=out)], tmp_path)
    assert captured == alone
    assert alone[0] == 3 and b"False" in alone[1] + alone[2]


def test_as_many_arguments_as_the_system_allows_reach_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print(len(sys.argv))", *(["a long argument of a command"] * 20_000)]
    alone, captured = alone_and_captured('"$@"', command, tmp_path)
    assert captured == alone == (0, b"20001\n", b"")


@pytest.mark.parametrize("given", ["", "LC_CTYPE=C.UTF-8", "LANG=C", "LC_ALL=C"])
def test_the_locale_is_the_one_that_was_given(given: str, tmp_path: Path) -> None:
    """Where it is C, Python changes its own environment, which the command must not inherit."""
    entry = f"{sys.executable} -P -m forensics run -q --folder {tmp_path}/c --"
    line = f"env -u LANG -u LC_ALL -u LC_CTYPE {given} {{}} sh -c 'printf \u00c4\u00d6 | wc -m; env | grep -E ^L[AC]'"
    alone, captured = (
        subprocess.run(["/bin/bash", "-c", line.format(how)], capture_output=True, check=False, timeout=120)
        for how in ("", entry)
    )
    assert captured.stdout == alone.stdout
    assert alone.stdout.split()[0] in (b"2", b"4")


@pytest.mark.parametrize("before", ["trap '' HUP INT", "trap '' TERM USR1 ALRM", ":"])
def test_ignored_signals_are_ignored_and_none_is_blocked(before: str, tmp_path: Path) -> None:
    entry = f"{sys.executable} -P -m forensics run -q --folder {tmp_path}/c -- {' '.join(SIGNALS[:1])} -E 'SigBlk|SigIgn' {SIGNALS[-1]}"
    alone, captured = alone_and_captured(f'{before}; "$@"', SIGNALS, tmp_path)
    through_the_entry = subprocess.run(["/bin/bash", "-c", f"{before}; {entry}"], capture_output=True, check=False)
    assert captured == alone
    assert through_the_entry.stdout == alone[1]


def test_a_signal_that_was_blocked_is_blocked_for_the_command(tmp_path: Path) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGRTMIN})
    try:
        alone = subprocess.run(SIGNALS, capture_output=True, check=False).stdout
        captured = subprocess.run(run_line(SIGNALS, tmp_path), capture_output=True, check=False).stdout
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert captured.split() == alone.split()


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGVTALRM, signal.SIGTRAP, signal.SIGRTMIN + 3])
def test_every_signal_to_run_reaches_the_command(number: int, tmp_path: Path) -> None:
    code = (
        f"import signal, sys, time\nsignal.signal({int(number)}, lambda *_: sys.exit(5))\nprint('ready', flush=True)\n"
        "time.sleep(60)"
    )
    running = subprocess.Popen(run_line([sys.executable, "-c", code], tmp_path), stdout=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    os.kill(running.pid, number)
    assert running.wait(60) == 5


def test_a_script_without_its_first_line_is_read_by_the_shell(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "job").write_text('echo "$1"; exit 3\n')
    (tmp_path / "bin" / "job").chmod(0o755)
    for command in ([str(tmp_path / "bin" / "job"), "x"], ["job", "x"]):
        alone, captured = alone_and_captured(f'PATH={tmp_path}/bin:$PATH; "$@"', command, tmp_path)
        assert captured == alone == (3, b"x\n", b"")


@pytest.mark.parametrize("most", [5, 8])
def test_a_limit_of_open_files_leaves_the_command_as_it_is(most: int, tmp_path: Path) -> None:
    alone, captured = alone_and_captured(f'ulimit -n {most}; "$@"', ["/bin/sh", "-c", "echo out; exit 4"], tmp_path)
    assert captured == alone == (4, b"out\n", b"")


def test_a_wrong_configuration_does_not_keep_the_command_from_running(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("capture: [1, 2\n")
    line = [sys.executable, "-P", "-m", "forensics", "run", "--folder", str(tmp_path / "b"), "--", "/bin/sh", "-c", "echo out"]
    done = subprocess.run(line, capture_output=True, check=False, env=os.environ | {"FORENSICS_CONFIG": str(tmp_path / "c.yaml")})
    assert (done.returncode, done.stdout) == (0, b"out\n")
    assert done.stderr.decode().startswith("forensics: ") and done.stderr.count(b"\n") == 1


def test_a_command_that_goes_on_and_ends_at_once_does_not_leave_run_stopped(tmp_path: Path) -> None:
    script = "kill -STOP $$; exit 6"
    running = subprocess.Popen(run_line(["/bin/sh", "-c", script], tmp_path), process_group=0)
    until = time.monotonic() + 60
    while state(running.pid) != "T" and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(next(p for p in children(running.pid) if b"forensics" not in Path(f"/proc/{p}/cmdline").read_bytes()), signal.SIGCONT)
    assert running.wait(60) == 6


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def children(pid: int) -> list[int]:
    """The processes below `pid`."""
    found = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return found + [c for one in found for c in children(one)]


@pytest.mark.parametrize("command", [["yes"], ["/bin/bash", "-c", "yes; exit $?"]])
def test_a_reader_that_left_is_one_line_and_no_bundle(command: list[str], tmp_path: Path) -> None:
    words = Options(command=command, folder="").run_line()
    line = '"$@" | head -1; echo ${PIPESTATUS[0]}'
    environment = os.environ | {"FORENSICS_RUNS": str(tmp_path / "runs")}
    done = subprocess.run(["/bin/bash", "-c", line, "bash", *words], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "y\n141\n"
    assert done.stderr == "forensics: the reader of its output left, which ended the command\n"
    assert list((tmp_path / "runs").glob("*")) == []
