"""The status of a job is its own, whatever helpers run beside it and whatever happens to what watches it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forensics.capture import proc, reaping, stacks
from forensics.capture.options import Options
from tests.capture.test_run import captured, run_with_helper, told

pytestmark = [pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"), pytest.mark.seconds]
ENDS = {"exit 0": 0, "exit 7": 7, "exit 255": 255} | {f"kill -{n} $$; sleep 9": -n for n in (6, 9, 11, 15)}
# Helpers that end at once, that take as long as the job, and that fail; each leaves a mark.
HELPERS = ("exit 0", "sleep 0.3", "exit 1")
# Orphans that end while the helpers run and after them, and one that outlives the job.
JOB = "echo start; (sleep 0.1 &); (sh -c 'exit 5' &); (sleep 2 &) >/dev/null 2>&1; sleep {sleep}; echo END; {end}"


def stress(folder: Path, number: int) -> tuple[str, int, int, bytes]:
    """Run one job beside helpers. Returns how it should end, the status of `run`, how many helpers ran, and its output."""
    end, helper = list(ENDS)[number % len(ENDS)], HELPERS[number // len(ENDS) % len(HELPERS)]
    here = folder / str(number)
    here.mkdir()
    program = here / "py-spy"
    program.write_text(f"#!/bin/sh\necho x >> {here}/helped\n{helper}\n")
    program.chmod(0o755)
    (here / "python-job").write_text(JOB.format(sleep=0.4 + 0.1 * (number % 5), end=end))
    options = Options(command=["/bin/sh", str(here / "python-job")], keep="never", stall_s=0.05, report=False, quiet=True)
    command = run_with_helper(options, program)
    environment = os.environ | {"FORENSICS_RUNS": str(here / "runs")}
    with (here / "out").open("wb") as out:
        to = out if number % 2 else subprocess.PIPE
        done = subprocess.run(command, stdout=to, stderr=subprocess.DEVNULL, env=environment, cwd=here, check=False, timeout=120)
    marks = here / "helped"
    output = done.stdout if to is subprocess.PIPE else (here / "out").read_bytes()
    return end, done.returncode, marks.read_text().count("x") if marks.exists() else 0, output


def check_stress(folder: Path, runs: int, at_once: int) -> None:
    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(lambda n: stress(folder, n), range(runs)))
    assert Counter((end, status) for end, status, _, _ in found if status != ENDS[end]) == Counter()
    assert {output for *_, output in found} == {b"start\nEND\n"}
    assert sum(helpers > 0 for _, _, helpers, _ in found) > runs * 0.9  # else nothing was tried


def test_helpers_that_end_at_once_change_no_status(tmp_path: Path) -> None:
    check_stress(tmp_path, 14, 4)


@pytest.mark.slow
def test_three_hundred_runs_beside_helpers_end_with_their_own_status(tmp_path: Path) -> None:
    check_stress(tmp_path, 300, 4)


def test_the_status_is_kept_where_ended_children_are_ignored(tmp_path: Path) -> None:
    ignoring = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    seen = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN, flush=True); raise SystemExit(7)"
    command = [sys.executable, "-c", ignoring, *captured([sys.executable, "-c", seen], tmp_path / "b")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (7, b"True\n")
    assert dict(told(tmp_path / "b")["status"])["exit_code"] == 7  # type: ignore[call-overload]


def test_the_status_is_the_jobs_own_after_its_supervisor_was_killed(tmp_path: Path) -> None:
    script = f"echo $PPID; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 7"
    running = subprocess.Popen(captured(["/bin/sh", "-c", script], tmp_path / "b"), stdout=subprocess.PIPE)
    assert running.stdout is not None
    os.kill(int(running.stdout.readline()), signal.SIGKILL)
    time.sleep(0.2)
    assert running.poll() is None  # it still waits for the job
    (tmp_path / "go").touch()
    assert running.wait(60) == 7


def test_an_error_of_the_capture_leaves_the_job_its_status(tmp_path: Path) -> None:
    broken = (
        "import sys, forensics.capture.supervisor as s; from forensics.capture.options import Options\n"
        "def fails(*_): raise ChildProcessError('of ours')\n"
        "s.Collector.start = s.JobSupervisor._begun = s.JobSupervisor._close = fails\n"
        "from forensics.capture.foreground import main; main(Options.from_json(sys.argv[1]))"
    )
    options = Options(command=["/bin/sh", "-c", "sleep 0.3; echo END; exit 7"], folder=str(tmp_path / "b")).to_json()
    done = subprocess.run([sys.executable, "-c", broken, options], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (7, b"END\n")


def test_a_supervisor_that_cannot_begin_leaves_the_command_to_run(tmp_path: Path) -> None:
    broken = (
        "import sys, forensics.capture.supervisor as s; from forensics.capture.options import Options\n"
        "def fails(*_): raise RuntimeError('of ours')\n"
        "s.JobSupervisor._open_bundle = fails\n"
        "from forensics.capture.foreground import main; main(Options.from_json(sys.argv[1]))"
    )
    options = Options(command=["/bin/sh", "-c", "echo END; exit 7"], folder=str(tmp_path / "b")).to_json()
    done = subprocess.run([sys.executable, "-c", broken, options], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (7, b"END\n")


def test_orphans_are_reaped_and_the_job_is_left_alone() -> None:
    """In a process of its own: it reaps whatever child it has."""
    script = (
        "import os, time\nfrom forensics.capture import reaping\n"
        "orphan = os.fork() or os._exit(5)\ntime.sleep(0.2)\njob = os.fork() or os._exit(7)\ntime.sleep(0.2)\nfound = []\n"
        "reaping.reap_orphans(job, lambda pid: None, lambda pid, status, _: found.append((pid, status >> 8)))\n"
        "assert found in ([(orphan, 5)], []), found\n"  # the kernel may show the job first; then the orphan waits
        "status = reaping.wait_for_job(job, -1, print, lambda: None, None)\nassert status >> 8 == 7, status\n"
        "reaping.reap_orphans(job, lambda pid: None, lambda pid, status, _: found.append((pid, status >> 8)))\n"
        "assert found == [(orphan, 5)], found"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_job_that_a_helper_stopped_and_left_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "py-spy"
    program.write_text("#!/bin/sh\nkill -STOP $3\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setattr("forensics.capture.live_stacks.py_spy_path", lambda _commands: str(program))
    monkeypatch.setattr(stacks, "DUMP_S", 0.5)
    job = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        from forensics.capture.tree import ProcessTree

        taken, why = stacks.take_stacks(list(ProcessTree([job.pid], False).living.values()), str(tmp_path / "stacks"), {})
        assert (taken, why) == ([], "py-spy: it did not answer in time")
        until = time.monotonic() + 10
        while (found := proc.stat(job.pid)) and found.state in "Tt" and time.monotonic() < until:
            time.sleep(0.01)
        assert found is not None and found.state not in "TtZ"
    finally:
        job.kill()
        job.wait()


# A process whose parent is gone ends while stacks are taken; the job waits until its number is free, and ends itself.
WAITS_FOR_ORPHAN = """
until [ -e helped ]; do sleep 0.05; done
(sleep 60 & echo $! > orphan)
read pid < orphan; kill $pid; while kill -0 $pid; do sleep 0.02; done; exit 7
"""
TAKES_LONG = """#!/bin/sh
echo x >> {here}/helped
exec sleep 60
"""


def test_a_look_at_stacks_delays_neither_an_orphans_end_nor_the_jobs(tmp_path: Path) -> None:
    program = tmp_path / "py-spy"
    program.write_text(TAKES_LONG.format(here=tmp_path))
    program.chmod(0o755)
    (tmp_path / "python-job").write_text(WAITS_FOR_ORPHAN)
    options = Options(command=["/bin/sh", str(tmp_path / "python-job")], keep="never", stall_s=0.05, report=False, quiet=True)
    began = time.monotonic()
    done = subprocess.run(run_with_helper(options, program), stderr=subprocess.DEVNULL, cwd=tmp_path, check=False, timeout=120)
    assert done.returncode == 7 and (tmp_path / "helped").exists()
    assert time.monotonic() - began < stacks.DUMP_S - 4


def test_a_process_that_is_no_child_is_waited_for() -> None:
    """Its parent, a shell, reaps it; the status is known where the kernel tells it."""
    shell = subprocess.Popen(
        ["/bin/sh", "-c", "exec 3<&0; sh -c 'read x; exit 7' <&3 & echo $!; wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert shell.stdout is not None and shell.stdin is not None
    pid = int(shell.stdout.readline())
    pidfd = proc.open_pidfd(pid)
    threading.Timer(0.2, shell.stdin.close).start()
    until = time.monotonic() + 30
    while (status := reaping.status_of_other(pid, pidfd)) is None and time.monotonic() < until:
        time.sleep(0.02)
    assert status is not None
    shell.wait()
    os.close(pidfd)
