"""Bundles: their form, what analyze reads of them, what the groups' counters say, how a log stays bounded."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import forensics
from forensics.capture import bundle, cgroups, guard, joblog
from forensics.capture.collect import collect
from forensics.capture.joblog import JobLog
from forensics.capture.options import Options
from forensics.cli.app import build
from tests.capture.test_run import WATCHED, captured
from tests.commandline import in_text

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
SCHEMA = json.loads((Path(guard.__file__).parent / "bundle.schema.json").read_text())
MEMORY = Path("/sys/fs/cgroup/memory")  # version 1
UNIFIED = Path("/sys/fs/cgroup")  # version 2
GROW = "x = []\nwhile True: x.append(bytearray(1 << 20))"


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a program whose worker dies of a segmentation fault, and that fails for it."""
    folder = tmp_path_factory.mktemp("bundle") / "b"
    worker = f"export WATCH=$PPID; sh -c '{WATCHED}; kill -SEGV $$'"
    script = f"echo step 1 loss 0.5; {worker}; echo worker is gone >&2; exit 1"
    subprocess.run(captured(["/bin/sh", "-c", script], folder), capture_output=True, check=False)
    return folder


def test_run_json_follows_its_schema(crashed: Path) -> None:
    jsonschema.validate(json.loads((crashed / "run.json").read_text()), SCHEMA)


def test_analyze_reads_a_bundle_as_it_is(crashed: Path) -> None:
    report = forensics.analyze(crashed)
    assert report.causes[0].id == "process.segfault"
    assert "ended by signal 11 (SIGSEGV)" in "".join(e.text for e in report.causes[0].evidence)
    assert {Path(s.name).name for s in report.sources} <= {"job.log", "kernel.log"}


def test_why_shows_and_keeps_the_report(crashed: Path) -> None:
    first = CliRunner().invoke(build(), ["why", str(crashed), "--again"])
    assert first.exit_code == 0 and "process.segfault" in first.output
    assert CliRunner().invoke(build(), ["why", str(crashed)]).output == first.output
    assert forensics.analyze(crashed).causes[0].id == "process.segfault"  # a report is no evidence


def test_the_next_process_is_told_once(crashed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path / "state"
    monkeypatch.setenv("FORENSICS_RUNS", str(top))
    shutil.copytree(crashed, top / "one")
    told = json.loads((top / "one" / "run.json").read_text())
    told["command"]["name"] = "train.py"
    (top / "one" / "run.json").write_text(json.dumps(told))
    (top / "one" / "report.json").write_text(json.dumps({"causes": [{"id": "process.segfault", "title": "Native code crashed"}]}))
    assert "process.segfault" in guard.last_death("train.py")
    assert guard.last_death("train.py") == ""


@pytest.fixture
def limited() -> Iterator[Path]:
    """A memory group of 96 MiB without swap."""
    first = MEMORY.is_dir()
    folder = (MEMORY if first else UNIFIED) / f"forensics-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(96 << 20))
        swap = folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        pytest.skip(f"needs a memory group that may be made here: {error}")
    yield folder
    until = time.monotonic() + 60
    while (folder / "cgroup.procs").read_text() and time.monotonic() < until:
        time.sleep(0.05)
    folder.rmdir()


@pytest.mark.seconds
def test_a_memory_kill_is_proven_without_the_kernels_log(limited: Path, tmp_path: Path) -> None:
    # What a group counted before it was known as the job's is nobody's, so the job grows only when it is watched.
    watched = f"while [ ! -s {tmp_path}/b/run.json ]; do sleep 0.05; done; sleep 1"
    script = f"echo $$ > {limited}/cgroup.procs; {watched}; {sys.executable} -c '{GROW}'; exit 1"
    subprocess.run(captured(["/bin/sh", "-c", script], tmp_path / "b"), capture_output=True, check=False)
    (tmp_path / "b" / "kernel.log").unlink(missing_ok=True)
    report = forensics.analyze(tmp_path / "b")
    assert (report.causes[0].id, report.causes[0].evidence[0].weight) == ("host_memory.oom_cgroup", "proof")
    assert report.causes[0].facts["limit_bytes"] == 96 << 20


# A watcher that begins when the worker is dead, as on a loaded machine, where a short-lived process is not seen alive.
LATE_WATCHER = """
import os, time
from forensics.capture.supervisor import JobSupervisor
begin = JobSupervisor._collect
def late(self, thread):
    while not os.path.exists(os.environ["GONE"]):
        time.sleep(0.01)
    begin(self, thread)
JobSupervisor._collect = late
from forensics.capture.__main__ import main
main()
"""


@pytest.mark.seconds
@pytest.mark.parametrize("program", [["-m", "forensics.capture"], ["-c", LATE_WATCHER]], ids=["watched", "watched-late"])
def test_a_process_killed_for_memory_is_told_although_the_command_ends_well(
    program: list[str], limited: Path, tmp_path: Path
) -> None:
    worker = f"echo $$ > {limited}/cgroup.procs; exec {sys.executable} -c '{GROW}'"
    (tmp_path / "worker.sh").write_text(worker)
    (tmp_path / "train.sh").write_text(f"/bin/sh {tmp_path}/worker.sh; : > $GONE; sleep 1; echo the worker is gone, all the same")
    options = Options(command=["/bin/sh", f"{tmp_path}/train.sh"])
    command = [sys.executable, *program, *options.run_line()[4:]]  # from `run` on
    home = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "GONE": str(tmp_path / "gone")}
    done = subprocess.run(command, capture_output=True, text=True, env=home, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "the worker is gone, all the same")
    (bundle,) = (tmp_path / "state" / "forensics").iterdir()
    (told,) = [line for line in done.stderr.splitlines() if line.startswith("forensics:") and "for memory" in line]
    assert re.search(r"the kernel killed pid \d+ \(python\S*\) for memory, while the command itself ended well", told)
    assert str(bundle) in told
    assert json.loads((bundle / "run.json").read_text())["status"]["exit_code"] == 0


def test_on_other_systems_status_and_output_are_taken(tmp_path: Path) -> None:
    code = "import sys; from forensics.capture.plain import run; from forensics.capture.options import Options\n"
    code += (
        "sys.exit(run(Options(command=['sh', '-c', 'echo out; kill -9 $$'], folder=sys.argv[1], report=False, keep='always')))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "b")], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (137, b"out\n")
    told = json.loads((tmp_path / "b" / "run.json").read_text())
    jsonschema.validate(told, SCHEMA)
    assert told["closed"] and "was ended by signal 9 (SIGKILL)" in (tmp_path / "b" / "job.log").read_text()


def test_the_counters_of_version_2_are_read(tmp_path: Path) -> None:
    for name, text in (("current", "104857600"), ("max", "209715200"), ("peak", "209715200")):
        (tmp_path / f"memory.{name}").write_text(text + "\n")
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 35\noom 1\noom_kill 1\noom_group_kill 0\n")
    found = cgroups.read_counters(2, str(tmp_path))
    wanted = {"usage_bytes": 104857600, "limit_bytes": 209715200, "peak_bytes": 209715200, "kills": 1, "refused": 35, "ooms": 1}
    assert wanted.items() <= found.items()


@pytest.mark.seconds
def test_a_long_log_keeps_both_ends(tmp_path: Path) -> None:
    log = JobLog(str(tmp_path), 100_000)
    for i in range(4000):
        log.add("1", b"line %06d of the output, padded to some length\n" % i)
    log.close(["closing line"])
    lines = (tmp_path / "job.log").read_text().splitlines()
    assert lines[0].startswith("line 000000") and lines[-2].startswith("line 003999") and lines[-1] == "closing line"
    assert any("bytes are left out here" in line for line in lines)
    assert (tmp_path / "job.log").stat().st_size < 160_000


def test_a_line_of_stderr_never_lands_inside_one_of_stdout(tmp_path: Path) -> None:
    log = JobLog(str(tmp_path), 1 << 20)
    for stream, text in (("1", b"half of "), ("2", b"an error\n"), ("1", b"a line\n")):
        log.add(stream, text)
    log.close([])
    assert (tmp_path / "job.log").read_text() == "an error\nhalf of a line\n"


def test_collect_takes_a_process_that_runs(tmp_path: Path) -> None:
    with (tmp_path / "own.log").open("w") as out:
        running = subprocess.Popen(["sh", "-c", "echo step 1; exec sleep 600"], stdout=out)
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "own.log").stat().st_size and time.monotonic() < until:
            time.sleep(0.02)
        folder, _ = collect(pid=running.pid, bundle=str(tmp_path / "b"), stacks=False)
    finally:
        running.kill()
        running.wait()
    log = (Path(folder) / "job.log").read_text()
    assert "step 1" in log and "was still running" in log
    jsonschema.validate(json.loads((Path(folder) / "run.json").read_text()), SCHEMA)


def test_the_script_is_printed_and_is_a_shell_script() -> None:
    printed = CliRunner().invoke(build(), ["collect", "--script"]).output
    assert subprocess.run(["sh", "-n"], input=printed, text=True, check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_log_and_not_the_job(tmp_path: Path) -> None:
    (tmp_path / "job.log").symlink_to("/dev/full")
    log = JobLog(str(tmp_path), 1 << 20)
    log.add("stdout", b"step\n" * 40_000)
    log.close(["the end"])
    log.add("stdout", b"more\n")
    assert log.fault == "No space left on device"
    assert log.bytes == 40_001 * 5


@pytest.mark.parametrize("lines", [10, 60_000])
def test_a_log_whose_disk_was_full_a_while_ago_has_the_last_lines(lines: int, tmp_path: Path) -> None:
    log = JobLog(str(tmp_path), 16 << 20)
    log.add("stdout", b"".join(b"step %06d\n" % i for i in range(lines)))
    log._give_up(OSError(28, "No space left on device"))
    log.add("stdout", b"".join(b"step %06d\n" % i for i in range(lines, 2 * lines)) + b"the last words")
    log.close(["the end"])
    text = (tmp_path / "job.log").read_text()
    steps = [line for line in text.splitlines() if line.startswith("step ") and len(line) == len("step 000000")]
    assert steps == sorted(set(steps)) and not log.lacks_end
    assert text.endswith(f"step {2 * lines - 1:06}\nthe last words\nthe end\n")
    assert lines > 10 or len(steps) == 20


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("spoil", ["rm -rf", "ls"])
def test_a_bundle_that_cannot_be_completed_is_not_promised_and_the_end_is_told(spoil: str, tmp_path: Path) -> None:
    bundle, spare = tmp_path / "b", tmp_path / "spare"
    spare.mkdir()
    bundle.mkdir()
    (bundle / "job.log").symlink_to("/dev/full")
    script = f"echo RuntimeError: CUDA out of memory; {spoil} {bundle}; exit 3"
    options = Options(command=["/bin/sh", "-c", script], folder=str(bundle))
    command = [sys.executable, "-P", "-m", "forensics.capture", "run", options.to_json()]
    environment = os.environ | {"TMPDIR": str(spare)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    (kept,) = spare.iterdir()
    assert done.returncode == 3
    assert "gpu_memory.capacity" in done.stderr and f"captured in {kept}\n" in done.stderr
    assert f"captured in {bundle}\n" not in done.stderr and not bundle.exists()
    assert json.loads((kept / "run.json").read_text())["status"]["exit_code"] == 3


def test_what_a_slow_disk_cannot_take_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_WAITING_BYTES", 10), ("MAX_DISK_WAIT_S", 0.01), ("WAKE_BYTES", 1)):
        monkeypatch.setattr(joblog, name, value)
    disk, taken = threading.Event(), JobLog._take
    monkeypatch.setattr(JobLog, "_take", lambda self, *block: disk.wait(60) and taken(self, *block))
    log = JobLog(str(tmp_path), 1 << 20)
    for line in (b"first line\n", b"second line\n", b"third line\n", b"fourth line\n"):
        log.add("stdout", line)
    disk.set()
    log.close([])
    text = (tmp_path / "job.log").read_text()
    assert text.startswith("first line\n")
    assert log.left_out > 0
    assert f"[forensics run: {log.left_out} bytes are left out here]" in text
    assert len(text.split("\n[forensics")[0]) + log.left_out == log.bytes


def test_of_a_long_file_that_the_job_wrote_both_ends_are_copied(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("".join(f"line {i:03}\n" for i in range(200)))
    log = JobLog(str(tmp_path), 180)
    log.append_file(str(tmp_path / "out.txt"), 900)
    log.append_file(str(tmp_path / "absent.txt"), 0)
    log.most = 1 << 20  # so that the log itself keeps all of it
    log.close([])
    first, left_out, last = (tmp_path / "job.log").read_text().partition("\n[forensics run: 720 bytes are left out here]\n")
    assert left_out
    assert (first.split("\n")[0], last.splitlines()[-1]) == ("line 100", "line 199")
    assert log.fault == f"{tmp_path / 'absent.txt'}: No such file or directory"


def test_the_newest_bundles_are_kept_and_those_that_are_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_KEPT_BUNDLES", 1)
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    for age, (name, run) in enumerate(
        {f"new-{gone.pid}": 1, f"own-{os.getpid()}": 1, f"old-{gone.pid}": 1, f"x-{gone.pid}": 0}.items()
    ):
        (tmp_path / name).mkdir()
        if run:
            (tmp_path / name / "run.json").write_text("{}")
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "elsewhere" / "kept").mkdir(parents=True)
    (tmp_path / "elsewhere" / "kept" / "run.json").write_text("{}")
    os.utime(tmp_path / "elsewhere" / "kept", (1, 1))
    os.utime(tmp_path / "elsewhere", (1, 1))
    (tmp_path / f"link-{gone.pid}").symlink_to(tmp_path / "elsewhere" / "kept")
    bundle.remove_oldest(str(tmp_path))
    assert {p.name.partition("-")[0] for p in tmp_path.iterdir()} == {"new", "own", "x", "elsewhere"}
    assert (tmp_path / "elsewhere" / "kept" / "run.json").exists()  # of a run elsewhere only the link goes
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path / "absent"))
    assert bundle.newest_first() == []
    monkeypatch.setenv("FORENSICS_RUNS", str(tmp_path))
    assert Path(bundle.newest_first()[0]).name in (f"new-{gone.pid}", f"own-{os.getpid()}")


def test_why_alone_tells_of_the_last_run(crashed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert "no captured run" in in_text("why").stderr
    shutil.copytree(crashed, tmp_path / "forensics" / "one")
    assert "process.segfault" in in_text("why", "--redact").stdout


def test_a_second_run_in_a_folder_tells_nothing_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "notes.txt").touch()  # of the user, and stays
    for word, status in (("first", 3), ("second", 4)):
        done = subprocess.run(
            captured(["/bin/sh", "-c", f"echo {word}; exit {status}"], tmp_path / "b"), capture_output=True, check=False
        )
        assert done.returncode == status
    log = (tmp_path / "b" / "job.log").read_text()
    assert "second" in log and "first" not in log
    assert len((tmp_path / "b" / "exits.jsonl").read_text().splitlines()) == 1
    assert (tmp_path / "b" / "notes.txt").exists()


def test_of_several_that_begin_at_once_in_one_folder_one_is_captured(tmp_path: Path) -> None:
    started = []
    for status in (3, 4, 5, 6):
        script = f"echo job {status}; sleep 2; exit {status}"
        options = Options(command=["/bin/sh", "-c", script], folder=str(tmp_path / "b"), report=False)
        command = [sys.executable, "-P", "-m", "forensics.capture", "run", options.to_json()]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    told = [process.communicate() for process in started]
    assert [(p.returncode, out) for p, (out, _) in zip(started, told, strict=True)] == [(n, f"job {n}\n") for n in (3, 4, 5, 6)]
    refused = ["a run that is still going is captured there" in said for _, said in told]
    assert sorted(refused) == [False, True, True, True]
    log = (tmp_path / "b" / "job.log").read_text()
    assert [f"job {n}\n" in log for n in (3, 4, 5, 6)] == [not was for was in refused]


def test_a_folder_is_free_again_when_its_run_has_ended(tmp_path: Path) -> None:
    for status in (0, 0, 3, 3):
        script = f"sleep 300 >/dev/null 2>&1 & echo pid $!; exit {status}"  # what is left behind holds no folder
        options = Options(command=["/bin/sh", "-c", script], folder=str(tmp_path / "b"), report=False, keep="always")
        command = [sys.executable, "-P", "-m", "forensics.capture", "run", options.to_json()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        os.kill(int(done.stdout.split()[1]), 9)
        assert (done.returncode, "nothing is captured" in done.stderr) == (status, False)
        assert (tmp_path / "b" / "job.log").read_text().startswith(done.stdout)


def test_two_runs_at_once_are_not_mixed_in_one_folder(tmp_path: Path) -> None:
    wait = f"echo first; touch {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    first = subprocess.Popen(captured(["/bin/sh", "-c", wait], tmp_path / "b"), stdout=subprocess.PIPE)
    until = time.monotonic() + 100
    while not ((tmp_path / "begun").exists() and (tmp_path / "b" / "run.json").exists()) and time.monotonic() < until:
        time.sleep(0.05)
    options = Options(command=["/bin/sh", "-c", "echo second; exit 4"], folder=str(tmp_path / "b"), report=False)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "forensics.capture", "run", options.to_json()], capture_output=True, text=True, check=False
    )
    (tmp_path / "go").touch()
    assert (done.returncode, done.stdout, first.communicate()[0], first.returncode) == (4, "second\n", b"first\n", 0)
    assert "nothing is captured" in done.stderr and "a run that is still going is captured there" in done.stderr
    log = (tmp_path / "b" / "job.log").read_text()
    assert "first" in log and "second" not in log
