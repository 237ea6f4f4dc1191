"""What is asked for and where it was, of jobs of Slurm and pods of Kubernetes, by what their own lines tell."""

from pathlib import Path

import pytest

from forensics import analyze
from forensics.advice.wording import fill_command
from forensics.model import Finding
from forensics.readers.platforms.places import workload_of

LIMIT = "slurmstepd: error: *** JOB 4712 ON gpu-05 CANCELLED AT 2026-11-27T15:00:21 DUE TO TIME LIMIT ***"
EPOCHS = "Epoch 1/50 loss 2.31 acc 0.11\nEpoch 2/50 loss 1.71 acc 0.34\nEpoch 3/50 loss 1.42 acc 0.42\n"
POD = """\
Name:             {pod}
Namespace:        research
Node:             gpu-node-3/10.20.0.13
Status:           Running
Controlled By:    {owner}
Containers:
  main:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Fri, 27 Nov 2026 10:20:11 +0100
      Finished:     Fri, 27 Nov 2026 10:24:52 +0100
    Ready:          False
    Restart Count:  4
    Limits:
      memory:          {limit}
    Requests:
      memory:          {limit}
"""


def first(folder: Path, text: str) -> Finding:
    (folder / "slurm-4712.out").write_text(text)
    return analyze(folder / "slurm-4712.out", workers=1).causes[0]


def test_the_time_to_ask_for_follows_from_begin_end_and_epochs_that_were_done(tmp_path: Path) -> None:
    found = first(tmp_path, f"Job 4712 on gpu-05, started Fri Nov 27 11:00:00 CET 2026\n{EPOCHS}{LIMIT}\n")
    remedy = found.remediations[0]
    assert remedy.action.startswith(
        "Ask for 67 h, about 17 times as long"
    )  # 4 h for 3 of 50 epochs, none of which was begun only
    assert any("--time=2-19:00:00" in command for command in remedy.commands)
    assert found.where.startswith("host gpu-05, job 4712")


def test_without_a_begin_only_the_ratio_is_told_and_no_tenth_of_it(tmp_path: Path) -> None:
    assert first(tmp_path, f"Job 4712 on gpu-05\n{EPOCHS}{LIMIT}\n").remediations[0].action.startswith("Ask for about 17 times")


def test_of_an_epoch_with_many_lines_half_was_done(tmp_path: Path) -> None:
    lines = "".join(f"Epoch {n}/50 loss {2.0 - n / 10}\n" * 3 for n in (1, 2, 3))
    assert first(tmp_path, f"{lines}{LIMIT}\n").remediations[0].action.startswith("Ask for about 20 times")


def test_the_node_that_failed_is_the_place_and_not_the_one_that_tells_of_it(tmp_path: Path) -> None:
    told = (
        "Job 4713 on gpu-07, started Fri Nov 27 12:00:00 CET 2026\n[rank0] step 100 loss 2.1\nsrun: error: Node failure on gpu-08\n"
        "slurmstepd: error: *** STEP 4713.0 ON gpu-07 CANCELLED AT 2026-11-27T12:41:10 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR "
        "DETAILS ***\n"
    )
    assert first(tmp_path, told).where.startswith("host gpu-08, job 4713")


@pytest.mark.parametrize(("head", "where"), [("Job 4711 on gpu-03, started", "host gpu-03, job 4711"), ("Job 4711", "job 4711")])
def test_a_memory_kill_names_the_node_that_the_job_names(tmp_path: Path, head: str, where: str) -> None:
    told = (
        f"{head}\nEpoch 3/10 loss=1.52\n/var/spool/slurmd/job4711/slurm_script: line 14: 238712 Killed   python train.py\n"
        "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.batch. Some of the step tasks have been OOM Killed.\n"
    )
    assert first(tmp_path, told).where.startswith(where)


@pytest.mark.parametrize(
    ("owner", "limit", "command"),
    [
        ("ReplicaSet/train-7f9c4d", "8Gi", "kubectl -n research set resources deployment/train -c main --limits=memory=16Gi"),
        ("StatefulSet/train", "512Mi", "kubectl -n research set resources statefulset/train -c main --limits=memory=1024Mi"),
        ("Job/train", "8G", "kubectl -n research get job/train -o yaml   # a Job cannot be changed"),
        ("Kiln/train", "8G", "kubectl -n research set resources deployment/train -c main --limits=memory=16G"),
    ],
)
def test_a_pod_is_answered_in_the_notation_of_its_limit_and_by_the_name_of_its_owner(
    tmp_path: Path, owner: str, limit: str, command: str
) -> None:
    (tmp_path / "describe.txt").write_text(POD.format(pod="train-7f9c4d-x2k8p", owner=owner, limit=limit))
    found = analyze(tmp_path / "describe.txt", workers=1).causes[0]
    assert any(c.startswith(command) for c in found.remediations[0].commands)
    assert "started it again 4 times, and waits before the next (CrashLoopBackOff)" in found.summary


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        ("fit-7f9c6d5b8-x2x4k", "deployment/fit"),
        ("fit-0", "statefulset/fit"),
        ("fit-3-x2x4k", "job/fit"),
        ("fit-worker-0", ""),  # a replica of Kubeflow's
        ("fit", ""),
        ("eval-model-run", ""),
    ],
)
def test_what_runs_a_pod_is_known_by_its_name_only_where_that_shows_it(pod: str, workload: str) -> None:
    assert workload_of(pod) == workload


def test_a_command_for_a_pod_names_the_pod_and_its_namespace() -> None:
    facts = {"pod": "research/fit-worker-0"}
    assert fill_command("kubectl describe pod POD", facts) == "kubectl -n research describe pod fit-worker-0"
    assert fill_command("kubectl top pod {pod}", facts) == "kubectl -n research top pod fit-worker-0"
    assert fill_command("kubectl describe node NODE", facts) == "kubectl describe node NODE"
    assert fill_command("kubectl describe pod POD", {}) == "kubectl describe pod POD"


@pytest.mark.parametrize(
    ("resumes", "saves", "saved"),
    [
        ("resuming from ckpt/epoch_11.pt", "saved ckpt/epoch_12.pt", "ckpt/epoch_12.pt"),
        ("Resuming training from out/checkpoint-400", "Saving model checkpoint to out/checkpoint-420", "out/checkpoint-420"),
        ("Restored all states from the checkpoint at runs/7/last.ckpt", "saved runs/7/last.ckpt", "runs/7/last.ckpt"),
    ],
)
def test_a_run_that_resumes_is_only_started_again(tmp_path: Path, resumes: str, saves: str, saved: str) -> None:
    found = first(tmp_path, f"Job 4712 on gpu-05, started Fri Nov 27 11:00:00 CET 2026\n{resumes}\n{EPOCHS}{saves}\n{LIMIT}\n")
    remedy = found.remediations[0]
    assert remedy.action.startswith("Start the same job again")
    assert saved in remedy.action and "slurm-4712.out:2" in remedy.action
    told = " ".join(a.action for a in found.remediations)
    assert "Save the state" not in told  # it does
    assert "times as long" not in told  # the pace since the first epoch is not that of this run


def test_what_is_loaded_behind_the_last_save_is_no_sign_of_a_run_that_resumes(tmp_path: Path) -> None:
    tested = "Restoring states from the checkpoint path at runs/7/best.ckpt"
    found = first(tmp_path, f"{EPOCHS}saved runs/7/best.ckpt\n{tested}\n{LIMIT}\n")
    assert found.remediations[0].action.startswith("Start again from runs/7/best.ckpt")


def test_a_longer_limit_is_one_beside_the_limit_that_was_reached(tmp_path: Path) -> None:
    (tmp_path / "sacct.txt").write_text("JobID|State|Timelimit|Elapsed\n4712|TIMEOUT|01:00:00|01:00:08\n")
    (tmp_path / "slurm-4712.out").write_text(f"step 1 loss 2.31\nstep 2 loss 1.71\n{LIMIT}\n")
    told = [c for a in analyze(tmp_path, workers=1).causes[0].remediations for c in a.commands]
    assert "sbatch --time=02:00:00 JOB_SCRIPT" in told
