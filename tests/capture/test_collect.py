"""collect of a Slurm job, a systemd unit and a dead process, with stand-ins for the programs of Slurm and systemd; and the script."""

import json
import os
import platform
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from forensics.capture import cgroups
from forensics.capture import collect as collecting
from forensics.capture.collect import collect
from forensics.cli.app import build
from tests.capture.test_bundle import SCHEMA
from tests.commandline import in_text

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
OOM = Path(__file__).parents[2] / "sample_logs" / "oom_cgroup_python"
SHOWN = "JobId=815 JobName=train\n   JobState=RUNNING Reason=None\n   StdOut={log} StdErr={log}\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "FIRST_SAMPLE_S", 0.1)


@pytest.fixture
def stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of stand-ins that is all of PATH but for the shell's own programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    yield folder


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def running() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen(["/bin/sh", "-c", "while :; do /bin/sleep 1; done"])
    yield made
    made.kill()
    made.wait()


def test_a_slurm_job_is_found_with_its_processes_and_files(
    stands_in: Path, running: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    log = tmp_path / "slurm-815.out"
    log.write_text("step 1 loss 0.5\n")
    (tmp_path / "shown").write_text(SHOWN.format(log=log))
    listed = f"PID JOBID STEPID LOCALID GLOBALID\\n{running.pid} 815 batch 0 0\\n-1 815 extern 0 0\\n"
    program(stands_in, "scontrol", f'[ $1 = show ] && /bin/cat {tmp_path}/shown || printf "{listed}"')
    program(stands_in, "sacct", 'printf "JobID|State\\n815|RUNNING\\n"')
    folder, closed = collect(job="815", bundle=str(tmp_path / "b"), stacks=False)
    assert (tmp_path / "b" / "scontrol.txt").read_text().startswith("JobId=815")
    assert "815|RUNNING" in (tmp_path / "b" / "sacct.txt").read_text()
    told = json.loads((Path(folder) / "run.json").read_text())
    jsonschema.validate(told, SCHEMA)
    assert told["command"]["pid"] == running.pid
    text = (tmp_path / "b" / "job.log").read_text()
    assert "step 1 loss 0.5" in text and "was still running" in text
    assert not any("scontrol" in line or "sacct" in line for line in closed)


def test_of_a_job_that_nobody_knows_it_is_said_what_was_not_had(stands_in: Path, tmp_path: Path) -> None:
    program(stands_in, "scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    folder, closed = collect(job="9", bundle=str(tmp_path / "b"), stacks=False)
    assert "scontrol show job: slurm_load_jobs error: Invalid job id specified" in closed
    assert "sacct --jobs 9: sacct is not installed here" in closed
    assert json.loads((Path(folder) / "run.json").read_text())["notes"]["missing"]


def test_a_unit_is_found_with_its_process_and_journal(stands_in: Path, running: subprocess.Popen[bytes], tmp_path: Path) -> None:
    program(stands_in, "systemctl", f'printf "MainPID={running.pid}\\nResult=success\\nMemoryMax=1073741824\\n"')
    program(stands_in, "journalctl", 'printf "2026-08-22T03:00:07.1+0000 node train[7]: step 1\\n"; printf "%s\\n" "$*" >&2')
    collect(unit="train", bundle=str(tmp_path / "b"), since_s=60, stacks=False)
    assert "MemoryMax=1073741824" in (tmp_path / "b" / "systemctl.txt").read_text()
    assert "train[7]: step 1" in (tmp_path / "b" / "journal.log").read_text()
    assert json.loads((tmp_path / "b" / "run.json").read_text())["command"]["pid"] == running.pid


def test_of_a_process_that_is_gone_the_rest_is_taken_and_that_is_said(tmp_path: Path) -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    done = CliRunner().invoke(build(), ["collect", "--pid", str(gone.pid), "-o", str(tmp_path / "b.tar.gz")])
    assert done.exit_code == 0
    assert f"process {gone.pid} is gone" in done.output
    with tarfile.open(tmp_path / "b.tar.gz") as packed:
        assert any(name.endswith("run.json") for name in packed.getnames())


def test_one_thing_at_a_time() -> None:
    assert CliRunner().invoke(build(), ["collect", "--pid", "1", "--job", "2"]).exit_code != 0


def test_the_script_makes_an_archive_that_holds_the_log_and_the_groups_counters(
    running: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    (tmp_path / "train.log").write_text("step 1\n")
    text = CliRunner().invoke(build(), ["collect", "--script"]).output
    line = ["/bin/sh", "-s", str(running.pid), "train.log"]
    done = subprocess.run(line, input=text, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": os.defpath})
    assert done.returncode == 0
    with tarfile.open(tmp_path / done.stdout.strip()) as packed:
        names = {Path(name).name for name in packed.getnames()}
    assert {"train.log", "collect.txt", "meminfo.txt", "status.txt", "cgroup.txt"} <= names


def test_names_are_hidden_in_every_file_of_the_bundle(running: subprocess.Popen[bytes], tmp_path: Path) -> None:
    done = CliRunner().invoke(build(), ["collect", "--pid", str(running.pid), "-o", str(tmp_path / "b"), "--redact"])
    assert done.exit_code == 0
    host = json.loads((tmp_path / "b" / "run.json").read_text())["host"]["name"]
    assert host != platform.node()
    assert host.startswith("host-")
    assert not [p.name for p in (tmp_path / "b").iterdir() if p.is_file() and re.search(rf"\b{platform.node()}\b", p.read_text())]


def test_a_bundle_that_cannot_be_written_is_one_line(running: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = in_text("collect", "--pid", running.pid, "-o", tmp_path / "file" / "b")
    assert done.returncode == 2
    assert done.stderr == f"forensics: {tmp_path}/file/b: the bundle could not be written (Not a directory)\n"


def test_what_the_kernel_tells_of_groups_of_others_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = cgroups.Groups()
    groups.of_process = {"8:pids:/jobs/one/step\n4:memory:/mem/x\n0::/\n": "/mem/x"}
    monkeypatch.setattr(cgroups, "_namespace", lambda: cgroups.HOST_NAMESPACE)
    refused = {path: f"2026-11-29T11:51:36,1+00:00 {cgroups.PIDS_REFUSAL}{path}" for path in ("/jobs/one", "/jobs/on", "/mem/x")}
    kill = (OOM / "dmesg.log").read_text().splitlines()
    own = [line.replace("_memcg=/train", "_memcg=/mem/x") for line in kill]
    assert own != kill
    reaped = "oom_reaper: reaped process 24488 (python), now anon-rss:0kB"
    said = [*refused.values(), "first", *kill, reaped, "last", *own, reaped]
    assert groups.without_others(said) == [refused["/jobs/one"], "first", "last", *own, reaped]
    assert groups.without_others(kill[:-1]) == kill[:-1]  # a report that is cut tells no group for certain
    groups.of_process = {"0::/\n": ""}  # in the group of the whole machine, which has no limit
    assert groups.without_others([refused["/jobs/one"]]) == []
    monkeypatch.setattr(cgroups, "_namespace", lambda: "cgroup:[4026532001]")
    assert groups.without_others(said) == said
