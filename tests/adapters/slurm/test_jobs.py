"""`forensics slurm JOBID` on what sacct and scontrol of a real Slurm 22.05 answered (benchmarks/slurm_ends.py records it)."""

import json
import sqlite3
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from forensics.adapters.slurm import accounting, evidence, node
from forensics.adapters.slurm.accounting import Job, SacctRow
from forensics.capture.kernel import KernelLog
from forensics.core.errors import UsageError
from tests.adapters.slurm.recorded import Cluster, number
from tests.commandline import in_text as forensics

# job -> causes of which one is first (none: no crash), words of the answer
FIRST: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "oom": (("host_memory.oom_cgroup",), ("OUT_OF_MEMORY",)),
    "time_limit": (("stopped.time_limit",), ("TIMEOUT",)),
    "scancel": (("stopped.user",), ("CANCELLED by 1001",)),
    "exit_1": (("code.exception",), ("FAILED, exit status 1",)),
    "segfault": (("process.segfault",), ("signal 11 (SIGSEGV)",)),
    "node_down": (("distributed.peer_lost",), ("NODE_FAIL",)),
    "exception": (("code.exception",), ("learning_rate",)),
    "requeue": (("code.exception",), ("learning_rate", "an earlier attempt, started 2026-11-22T21:53:10")),
    "dependency": ((), ("never started (PENDING): DependencyNeverSatisfied, it waits for afterok:",)),
    "array": (("data.missing",), ("4 parts of one job: 3 COMPLETED, 1 FAILED", "absent.csv")),
    "step_fails": (("code.exception",), ("Slurm calls job 54 COMPLETED because its script ended with 0", "learning_rate")),
    "disk_full": (("storage.full",), ("exit status 1",)),
    "step_oom": (
        ("host_memory.oom_cgroup",),
        ("job 56 (step_oom) of alice: COMPLETED, exit status 0", "step 56.0 (python3): OUT_OF_MEMORY"),
    ),
    "het": (("code.exception",), ("2 parts of one job", "learning_rate")),
    "under_run": (("host_memory.oom_cgroup",), ("OUT_OF_MEMORY",)),
    "healthy": ((), ("COMPLETED, exit status 0",)),
}


def asked(name: str, *options: str) -> "CompletedProcess[str]":
    return forensics("slurm", number(name), *options)


@pytest.mark.seconds
@pytest.mark.parametrize("name", FIRST)
def test_the_report_names_the_first_cause_of_each_recorded_job(name: str, slurm: Cluster) -> None:
    done = asked(name, "-f", "json")
    report = json.loads(done.stdout)
    causes, words = FIRST[name]
    assert report["verdict"] == ("crash" if causes else "no_crash")
    assert report["causes"][0]["id"] in (causes or ("none.healthy",))
    assert [w for w in words if w not in done.stdout] == []


@pytest.mark.seconds
def test_a_job_is_remembered_with_its_name_and_what_it_asked_for(slurm: Cluster, tmp_path: Path) -> None:
    place = str(tmp_path / "h.db")
    pytest.importorskip("sqlalchemy", reason="needs the extra history")
    for name in ("oom", "healthy"):
        assert forensics("slurm", number(name), "--remember", FORENSICS_HISTORY=place).returncode == 0
    with sqlite3.connect(place) as connection:
        jobs = connection.execute("select job, state, asked, run from jobs order by job").fetchall()
        stored = connection.execute("select job, run, user from incidents order by job").fetchall()
    assert sorted((job, state) for job, state, _, _ in jobs) == sorted(
        [(number("oom"), "OUT_OF_MEMORY"), (number("healthy"), "COMPLETED")]
    )
    assert all("--mem " in asked and "--time " in asked for _, _, asked, _ in jobs)
    assert {job: run for job, _, _, run in jobs} == {job: run for job, run, _ in stored}
    assert all(user.startswith("user-") for _, _, user in stored)


@pytest.mark.seconds
def test_slurms_state_comes_first_with_a_step_that_contradicts_it(slurm: Cluster) -> None:
    done = asked("step_oom", "--exit-code")
    assert done.returncode == 1
    job, step, but = done.stdout.splitlines()[:3]
    assert job.startswith("job 56 (step_oom) of alice: COMPLETED, exit status 0, 2026-11-22T")
    assert step == "step 56.0 (python3): OUT_OF_MEMORY"
    assert but == "Slurm calls job 56 COMPLETED because its script ended with 0; a step of it did not end well"
    assert asked("step_oom", "--redact").stdout.startswith("A memory limit was hit")


def test_a_step_a_task_and_a_component_can_be_asked_for(slurm: Cluster) -> None:
    job, array, het = number("step_fails"), number("array"), number("het")
    assert "step 54.0" in forensics("slurm", f"{job}.0").stdout
    rows = accounting.read_accounting(slurm.lines[" ".join(accounting.sacct_command(array))], f"{array}_1")
    assert [r.id for r in rows.jobs] == [f"{array}_1"]
    assert not rows.went_wrong
    rows = accounting.read_accounting(slurm.lines[" ".join(accounting.sacct_command(het))], het)
    assert [r.id for r in rows.jobs] == [f"{het}+0", f"{het}+1"]


def test_an_array_tells_its_failed_task_and_reads_that_tasks_output_alone(slurm: Cluster) -> None:
    names = [s["name"] for s in json.loads(asked("array", "-f", "json").stdout)["sources"]]
    assert [n for n in names if n.endswith(".out")] == [str(slurm.folder / "slurm-53_2.out")]


def test_without_the_controllers_memory_the_output_is_found_by_the_options_of_sbatch(slurm: Cluster) -> None:
    slurm.forgets = {"scontrol"}
    assert str(slurm.folder / "slurm-49.out") in asked("exception").stdout


def test_without_accounting_the_controllers_record_is_used(slurm: Cluster) -> None:
    slurm.forgets = {"sacct"}
    done = asked("exception", "-f", "json")
    report = json.loads(done.stdout)
    assert report["causes"][0]["id"] == "code.exception"
    assert any("sacct is not installed here" in m["why"] for m in report["missing"])


def test_missing_evidence_is_reported_with_the_command_that_gives_it(slurm: Cluster) -> None:
    (slurm.folder / "slurm-49.out").unlink()
    missing = {m["what"]: m for m in json.loads(asked("exception", "-f", "json").stdout)["missing"]}
    assert "there is no such file on this machine" in missing[f"the output of job 49, {slurm.folder}/slurm-49.out"]["why"]
    assert missing["the kernel's log of n1"]["command"].startswith("ssh n1 journalctl -k --since '2026-11-22 ")


@pytest.mark.parametrize("wrong", ["train", "47;reboot", "-1", "4711x", ""])
def test_a_text_that_is_no_job_id_is_one_line_and_status_2(wrong: str, slurm: Cluster) -> None:
    done = forensics("slurm", "--", wrong)
    assert done.returncode == 2
    assert "is not the id of a Slurm job" in done.stderr


def test_the_output_of_a_job_is_no_job_id_and_can_be_read_by_another_command(slurm: Cluster, tmp_path: Path) -> None:
    (tmp_path / "slurm-47.out").write_text("x")
    assert f"by that name: forensics analyze {tmp_path}/slurm-47.out" in forensics("slurm", tmp_path / "slurm-47.out").stderr


def test_an_unknown_job_is_one_line_and_status_2(slurm: Cluster) -> None:
    done = forensics("slurm", "99999")
    assert done.returncode == 2
    assert "nothing is known of job 99999 (sacct: no such job; scontrol: Invalid job id specified)" in done.stderr


def test_without_slurm_it_says_so(tmp_path: Path) -> None:
    done = forensics("slurm", "1", PATH=str(tmp_path))
    assert done.returncode == 2
    assert "sacct is not installed here" in done.stderr


def test_the_node_tells_only_of_this_job(slurm: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "slurmd-n1.log"
    log.write_text(
        "[2026-11-22T21:19:50.9] [56.0] error: Detected 1 oom-kill event(s) in StepId=56.0.\n"
        "[2026-11-22T21:19:51.0] [560.0] done with job\n[2026-11-22T21:19:51.0] launch task StepId=156.0 request\n"
    )
    slurm.lines["scontrol show config"] = f"SlurmdLogFile           = {tmp_path}/slurmd-%n.log\nSlurmctldLogFile = /absent\n"
    slurm.lines["scontrol show aliases"] = "n1 n2\n"
    monkeypatch.setattr(
        KernelLog,
        "_ask",
        lambda self: (
            self._add("2026-11-22T21:19:50,534368+00:00 Memory cgroup out of memory") or setattr(self, "method", "dmesg")
        ),
    )
    found = node.node_logs(accounting.read_accounting(slurm.lines[" ".join(accounting.sacct_command("56"))], "56").concerned, [])
    assert found["slurmd.log"] == log.read_text().splitlines()[:1]
    assert found["kernel.log"][0].endswith(":50.534368 Memory cgroup out of memory")


@pytest.mark.parametrize(("job", "kills"), [("1", 1), ("2", 0)])
def test_kills_of_other_jobs_are_left_out_of_the_kernels_log(job: str, kills: int) -> None:
    lines = (Path(__file__).parents[3] / "sample_logs/slurm_oom_of_another_job/dmesg.log").read_text().splitlines()
    reaped = "[Sat Nov 21 12:29:05 2026] oom_reaper: reaped process 24881 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB"
    kept = node.without_others([*lines, reaped, "[Sat Nov 21] NVRM: Xid (PCI:0000:3b:00): 79"], {job})
    assert sum("Killed process" in line for line in kept) == sum("oom_reaper" in line for line in kept) == kills
    assert kept[-1].endswith(": 79")
    forks = [
        f"[Sat Nov 21] cgroup: fork rejected by pids controller in {g}"
        for g in ("/user.slice", f"/slurm_n1/uid_1/job_{job}/step_0")
    ]
    assert node.without_others([lines[0], *lines, *forks], {job})[-1:] == forks[1:]
    assert node.without_others([reaped, forks[1]], {job}) == forks[1:]
    tail = [*lines[40:], reaped]  # the kernel has overwritten the first lines
    assert node.without_others(tail, {job}) == (tail if kills else [])
    whole_host = [line.replace("CONSTRAINT_MEMCG", "CONSTRAINT_NONE").replace("Memory cgroup out", "Out") for line in lines]
    assert node.without_others(whole_host, {job}) == whole_host


@pytest.mark.seconds
def test_a_crash_in_the_kernels_log_is_the_jobs_where_slurm_or_its_output_says_so(
    slurm: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A neighbour crashes in the same second; the kernel names processes and no jobs."""
    crash = (
        "2026-11-22T21:53:15.504233 python3[17552]: segfault at 0 ip 00007f5c92c35ad8 sp 00007ffe521eb0c8 error 4 in libc.so.6"
    )
    monkeypatch.setattr(evidence, "node_logs", lambda *_: {"kernel.log": [crash]})
    output = slurm.folder / "slurm-49.out"
    assert json.loads(asked("exception", "-f", "json").stdout)["causes"][0]["id"] == "code.exception"
    assert crash not in asked("exception", "-f", "json").stdout
    assert crash[27:60] in asked("segfault", "-f", "json").stdout
    output.write_text(output.read_text() + "DataLoader worker (pid 17552) is killed by signal: Segmentation fault.\n")
    assert crash[27:60] in asked("exception", "-f", "json").stdout


def accounted(*rows: dict[str, str]) -> str:
    lines = [
        accounting.FIELD_DELIMITER.join({"JobIDRaw": r["JobID"], **r}.get(f, "") for f in accounting.SACCT_FIELDS) for r in rows
    ]
    return "\n".join([accounting.FIELD_DELIMITER.join(accounting.SACCT_FIELDS), *lines])


def test_a_number_that_is_also_an_arrays_task_or_was_used_years_ago_is_one_job() -> None:
    old = {
        "JobID": "287",
        "State": "FAILED",
        "Submit": "2021-01-01T00:00:00",
        "Start": "2021-01-01T00:00:05",
        "End": "2021-01-01T01:00:00",
    }
    task = {
        "JobID": "268_19",
        "JobIDRaw": "287",
        "State": "FAILED",
        "Submit": "2026-11-22T22:00:00",
        "Start": "2026-11-22T22:00:05",
    }
    mine = {
        "JobID": "287",
        "State": "COMPLETED",
        "Submit": "2026-11-22T22:30:00",
        "Start": "2026-11-22T22:30:05",
        "End": "2026-11-22T22:31:00",
    }
    step = {"JobID": "287.0", "State": "FAILED", "Start": "2021-01-01T00:00:06"}
    text = accounted(old, step, task, mine, {**step, "Start": "2026-11-22T22:30:06", "State": "COMPLETED"})
    found = accounting.read_accounting(text, "287")
    assert [(r.id, r.state) for r in (*found.jobs, *found.steps, *found.earlier)] == [
        ("287", "COMPLETED"),
        ("287.0", "COMPLETED"),
    ]
    assert [r.id for r in accounting.read_accounting(accounted(task), "287").jobs] == ["268_19"]
    assert [r.id for r in accounting.read_accounting(text, "268_19").jobs] == ["268_19"]


def test_an_array_of_two_thousand_is_read_in_a_moment() -> None:
    rows = [
        {"JobID": f"9_{i}", "JobIDRaw": str(i), "State": "FAILED" if i % 2 else "COMPLETED", "Start": "2026-11-22T22:00:05"}
        for i in range(2_000)
    ]
    steps = [{**r, "JobID": f"{r['JobID']}.batch"} for r in rows]
    found = accounting.read_accounting(accounted(*rows, *steps), "9")
    assert len(found.jobs) == 2_000
    assert len(found.concerned) == 1_000
    assert len(accounting.sacct_table(found)) == 1 + 2 * accounting.MAX_SHOWN_JOBS
    assert next(accounting.accounting_sentences(found, {}))[0] == "2000 parts of one job: 1000 COMPLETED, 1000 FAILED"


def test_a_captured_run_of_the_job_is_read(slurm: Cluster, tmp_path: Path) -> None:
    for name, job in (("mine", "49"), ("other", "7")):
        bundle = tmp_path / "state/forensics" / name
        bundle.mkdir(parents=True)
        (bundle / "run.json").write_text(json.dumps({"identity": {"slurm": {"SLURM_JOB_ID": job}}}))
    assert evidence.bundles_of_jobs({"49"}) == [str(tmp_path / "state/forensics/mine")]


def row(**fields: str) -> SacctRow:
    return SacctRow(
        {"JobID": "12_3", "JobIDRaw": "15", "JobName": "train", "User": "alice", "NodeList": "n1,n2", "WorkDir": "/work"} | fields
    )


@pytest.mark.parametrize(
    ("submitted", "found"),
    [
        ("sbatch train.sh", ["/work/slurm-12_3.out"]),
        ("sbatch -o logs/%x-%A_%3a.out train.sh", ["/work/logs/train-12_003.out"]),
        ("sbatch --output=/data/%u/%j.log -e %N.err train.sh", ["/data/alice/15.log", "/work/n1.err"]),
        ("sbatch -D /else -oout%%.txt train.sh", ["/else/out%.txt"]),
        ("sbatch --wrap 'echo \"x'", ["/work/slurm-12_3.out"]),
    ],
)
def test_the_options_of_sbatch_give_the_paths_of_the_output(submitted: str, found: list[str]) -> None:
    assert evidence.output_paths(row(SubmitLine=submitted), {}) == found


def test_the_scripts_own_options_count_where_the_command_line_has_none(tmp_path: Path) -> None:
    (tmp_path / "train.sh").write_text("#!/bin/bash\n#SBATCH --output=from-script-%j.out   # a note\n#SBATCH -e errors.txt\n")
    mine = row(WorkDir=str(tmp_path), SubmitLine="sbatch train.sh")
    assert evidence.output_paths(mine, {}) == [f"{tmp_path}/from-script-15.out", f"{tmp_path}/errors.txt"]
    mine = row(WorkDir=str(tmp_path), SubmitLine="sbatch -o won.out train.sh")
    assert evidence.output_paths(mine, {})[0] == f"{tmp_path}/won.out"


@pytest.mark.parametrize(
    ("code", "state", "words"),
    [("1:0", "FAILED", "exit status 1"), ("0:9", "FAILED", "signal 9 (SIGKILL)"), ("0:125", "OUT_OF_MEMORY", ""), ("0:0", "TIMEOUT", ""),
     ("0:0", "COMPLETED", "exit status 0"), ("", "", ""), ("0:77", "FAILED", "signal 77 (unknown)")],
)  # fmt: skip
def test_exit_codes_are_written_in_words(code: str, state: str, words: str) -> None:
    assert accounting.exit_text(code, state) == words


def test_a_list_of_nodes_is_expanded_up_to_a_thousand() -> None:
    assert node.node_names("n[01-03,07],login") == ["n01", "n02", "n03", "n07", "login"]
    assert len(node.node_names("n[1-99999]")) == 1000


def test_an_empty_answer_is_no_job() -> None:
    assert accounting.read_accounting("", "1") == Job((), (), ())
    with pytest.raises(UsageError):
        evidence.gather_evidence("one", Path())
