"""The epilog: ends with 0 at once whatever is wrong with us, works as the job's user, tells of bad ends alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forensics.adapters.slurm import accounting, epilog, evidence
from tests.adapters.slurm.recorded import Cluster, number
from tests.commandline import measured

SOON_S = 50.0  # before its Python is done, on a busy machine, too; benchmarks/slurm_epilogs.py measures it: 0.06 s


@pytest.mark.parametrize("fault", ["exec sleep 60", "kill -9 $$", "exit 1", "echo x >&2; exit 139", None])
def test_the_script_ends_with_zero_at_once_whatever_its_python_does(fault: str | None, tmp_path: Path) -> None:
    python, place = tmp_path / "python", tmp_path / "epilog"
    if fault:
        python.write_text(f"#!/bin/sh\n{fault}\n")
        python.chmod(0o755)
    place.write_text(epilog.script(epilog.Options(["--folder", str(tmp_path)])).replace(sys.executable, str(python)))
    started = time.monotonic()
    done = subprocess.run(["/bin/sh", place], env={"SLURM_JOB_ID": "1"}, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - started < SOON_S


@pytest.mark.parametrize(
    "words", [[], ["--nonsense"], ["--folder"], ["--folder=/proc/none", "--append"], ["--help"], ["--script"]]
)
def test_the_command_ends_with_zero_whatever_it_is_given(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "forensics", "slurm", "epilog", *words],
        env={"PATH": "", **measured()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) is bool({"--help", "--script"} & set(words))


def test_the_epilog_works_in_the_background_after_its_caller_has_continued(slurm: Cluster, tmp_path: Path) -> None:
    """Programs that print what those of a real Slurm printed stand in for sacct and scontrol, and one that notes for sacctmgr."""
    (tmp_path / "bin").mkdir()
    answers = {
        " ".join(accounting.sacct_command(number("step_oom"))): "sacct",
        f"scontrol show job {number('step_oom')}": "scontrol",
    }
    for name in ("sacct", "scontrol", "sacctmgr"):
        text = next((slurm.lines.get(asked, "") for asked, program in answers.items() if program == name), "")
        (tmp_path / f"{name}.txt").write_text(text)
        tells = f'for word; do echo "$word"; done > {tmp_path}/noted.new; mv {tmp_path}/noted.new {tmp_path}/noted'
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{tells if name == 'sacctmgr' else f'cat {tmp_path}/{name}.txt'}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    job, spool = number("step_oom"), tmp_path / "spool"
    env = os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "SLURM_JOB_ID": job, "SLURM_JOB_UID": str(os.getuid()),
        "SLURM_JOB_STDOUT": str(slurm.folder / f"slurm-{job}.out"), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "forensics", "slurm", "epilog", "--folder", spool, "--comment"],
        env=env,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    until = time.monotonic() + 200
    while not ((tmp_path / "noted").exists() or list(spool.glob("*.fault"))) and time.monotonic() < until:
        time.sleep(0.05)
    assert {p.name for p in spool.iterdir()} == {f"{job}.txt", f"{job}.json"}
    words = (tmp_path / "noted").read_text().splitlines()
    assert words[:6] == ["-i", "modify", "job", "where", f"jobid={job}", "set"]
    assert words[6].startswith("AdminComment=host_memory.oom_cgroup ")


def test_as_task_epilog_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_SCRIPT_CONTEXT", "epilog_task")
    started = []
    monkeypatch.setattr(epilog, "_detached", lambda: started.append(1))
    assert epilog.main(["--append"]) == 0
    assert not started
    monkeypatch.setenv("SLURM_SCRIPT_CONTEXT", "epilog_slurmd")
    assert epilog.main(["--append"]) == 0
    assert started


def test_the_script_keeps_its_options() -> None:
    text = epilog.script(epilog.Options(["--comment", "--folder", "/var/spool/it's here"]))
    assert "slurm epilog --comment --folder '/var/spool/it'\"'\"'s here'" in text
    assert "--append" in epilog.script(epilog.Options([]))


def told(name: str, slurm: Cluster, *words: str) -> Path:
    """The folder after an epilog of the recorded job."""
    folder = slurm.folder.parent / "spool"
    slurm.lines[" ".join(accounting.sacct_command("53_3"))] = slurm.lines[" ".join(accounting.sacct_command("53"))]
    env = {
        "SLURM_JOB_ID": number(name),
        "SLURM_JOB_UID": str(os.getuid()),
        "SLURM_JOB_STDOUT": str(slurm.folder / f"slurm-{number(name)}.out"),
    }
    assert epilog._report(number(name), epilog.Options(["--folder", str(folder), *words]), env) is None
    return folder


def test_a_bad_end_is_told_in_the_folder_and_in_the_jobs_output(slurm: Cluster) -> None:
    output = slurm.folder / f"slurm-{number('step_oom')}.out"
    before = output.read_text()
    folder = told("step_oom", slurm, "--append")
    assert {p.name for p in folder.iterdir()} == {"56.txt", "56.json"}
    added = output.read_text().removeprefix(before)
    assert added.startswith(f"\n{evidence.EPILOG_FIRST_LINE}\n\njob 56 (step_oom)")
    assert "host_memory.oom_cgroup" in added
    assert len(added.encode()) < epilog.MAX_APPENDED_BYTES + 100
    copy = evidence._without_report(str(output), folder)
    assert (folder / copy).read_text() == before + "\n"  # what we said is no evidence the next time


def test_of_an_array_the_task_that_ended_here_is_told_alone(slurm: Cluster) -> None:
    """The last task has the number of the array itself."""
    assert [r["JobIDRaw"] for r in array(slurm).jobs][-1] == number("array")
    assert not told("array", slurm).exists()  # 53_3 ended well


def array(slurm: Cluster) -> accounting.Job:
    return accounting.read_accounting(slurm.lines[" ".join(accounting.sacct_command(number("array")))], number("array"))


def test_a_good_end_leaves_nothing(slurm: Cluster) -> None:
    output = slurm.folder / f"slurm-{number('healthy')}.out"
    before = output.read_text()
    assert not told("healthy", slurm, "--append").exists()
    assert output.read_text() == before


def test_an_error_of_the_epilog_is_written_to_its_folder_only(slurm: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> str:
        raise ValueError("something is wrong")

    monkeypatch.setattr(epilog, "_answered", fails)
    with pytest.raises(RuntimeError, match="ValueError: something is wrong"):
        told("step_oom", slurm)
    epilog._note(str(slurm.folder), "56", "RuntimeError: ValueError: something is wrong")
    assert (slurm.folder / "56.fault").read_text() == "RuntimeError: ValueError: something is wrong\n"


def test_only_a_plain_file_gets_the_report_appended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    epilog.append(str(pipe), "text")
    assert os.read(reader, 10) == b""
    os.close(reader)
    with pytest.raises(OSError, match=r"No such file"):
        epilog.append(str(tmp_path / "absent"), "text")


@pytest.mark.root
@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_the_users_files_are_touched_as_the_user_for_good(tmp_path: Path) -> None:
    secret = tmp_path / "shadow"
    secret.write_text("x")
    secret.chmod(0o600)

    def work() -> str:
        said = []
        for attempt in (lambda: epilog.append(str(secret), "y"), lambda: os.setuid(0)):
            try:
                attempt()
            except PermissionError:
                said.append("refused")
        return " ".join([*said, str(os.getuid()), str(os.getgroups()), os.environ["HOME"]])

    assert epilog._as_user(65534, work).startswith("refused refused 65534 [65534]")
    assert secret.read_text() == "x"
