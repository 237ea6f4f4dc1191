"""Ends 15 jobs of a real Slurm in different ways and reads what `forensics slurm JOBID` says of each.

    benchmarks/slurm_cluster.sh up FOLDER "$PWD"
    python benchmarks/slurm_ends.py FOLDER [--only NAME] [--record FILE] [--as root]

For each end it prints whether the answer is right: the cause that stands first, or words that the answer must have where no log
tells of a cause. `--record` keeps what sacct and scontrol answered, and the jobs' outputs, for the tests.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CLUSTER = Path(__file__).with_name("slurm_cluster.sh")
FORENSICS = Path(sys.executable).with_name("forensics")
DONE_S = 240.0  # a time limit takes a minute, and Slurm looks at limits each half minute
HOLD = "import time\nheld = []\nfor i in range(400):\n    held.append(bytearray(4 << 20))\n    time.sleep(0.02)\n"
TRAIN = """import time
def load(config):
    return config["learning_rate"]
def main():
    for epoch in range(3):
        print("epoch", epoch, "loss", 1 / (epoch + 1), flush=True)
        time.sleep(0.2)
    load({"lr": 1})
main()
"""
EPOCHS = "import time\nfor i in range(1000):\n    print('epoch', i, 'loss', 1 / (i + 1), flush=True)\n    time.sleep(1)\n"
SHARD = (
    "import sys\nname = ['a.csv', 'b.csv', 'absent.csv', 'c.csv'][int(sys.argv[1])]\nprint('reading', name)\nopen(name).read()\n"
)
FILL = """for i in range(100):
    with open(f"/mnt/scratch/checkpoint-{i}.pt", "wb") as file:
        file.write(b"x" * (1 << 20))
    print("saved checkpoint", i, flush=True)
"""
SEGFAULT = "import ctypes\nprint('loading the kernel extension', flush=True)\nctypes.string_at(0)\n"
FILES = {"hold.py": HOLD, "train.py": TRAIN, "epochs.py": EPOCHS, "shard.py": SHARD, "fill.py": FILL, "segfault.py": SEGFAULT}
# name -> options of sbatch, the script, what is done to it while it runs, causes of which one is to be named (empty: none), words
ENDS: dict[str, tuple[str, str, str, tuple[str, ...], tuple[str, ...]]] = {
    "oom": ("--mem=100M", "python3 hold.py", "", ("host_memory.oom_cgroup",), ("OUT_OF_MEMORY",)),
    "time_limit": ("--time=1", "srun python3 epochs.py", "", ("stopped.time_limit",), ("TIMEOUT",)),
    "scancel": ("", "srun python3 epochs.py", "sleep 4; scancel {job}", ("stopped.user",), ("CANCELLED",)),
    "exit_1": ("", "echo evaluating; exit 1", "", ("code.exception", ""), ("exit status 1",)),
    "segfault": ("", "srun python3 segfault.py", "", ("process.segfault",), ("signal 11",)),
    "node_down": (
        "-w n2 --exclusive --no-requeue",
        "srun python3 epochs.py",
        "NODE_DOWN",
        ("distributed.peer_lost",),
        ("NODE_FAIL",),
    ),
    "exception": ("", "srun python3 train.py", "", ("code.exception",), ("learning_rate",)),
    "requeue": (
        "--requeue --open-mode=append",
        'test -n "$SLURM_RESTART_COUNT" || sleep 60; srun python3 train.py',
        "sleep 4; scontrol requeue {job}",
        ("code.exception",),
        ("learning_rate", "requeued"),
    ),
    "dependency": ("--dependency=afterok:{held}", "echo never", "DEPENDENCY", (), ("never started", "DependencyNeverSatisfied")),
    "array": (
        "--array=0-3 --mem=60M",
        "touch a.csv b.csv c.csv; python3 shard.py $SLURM_ARRAY_TASK_ID",
        "",
        ("data.missing", "code.exception"),
        ("absent.csv",),
    ),
    "step_fails": (
        "",
        "srun python3 train.py; echo copying results; exit 0",
        "",
        ("code.exception",),
        ("COMPLETED", "learning_rate"),
    ),
    "disk_full": ("", "rm -f /mnt/scratch/*; srun python3 fill.py", "", ("storage.full",), ()),
    # beyond the twelve
    "step_oom": ("--mem=100M", "srun python3 hold.py; echo done; exit 0", "", ("host_memory.oom_cgroup",), ("COMPLETED",)),
    "het": (
        "--mem=60M : --mem=60M",
        "srun --het-group=0 echo leader; srun --het-group=1 python3 train.py",
        "",
        ("code.exception",),
        ("learning_rate",),
    ),
    "under_run": ("--mem=150M", "srun {forensics} run -- python3 hold.py", "", ("host_memory.oom_cgroup",), ()),
    "healthy": ("", "srun python3 -c 'print(1)'; echo done", "", (), ("COMPLETED",)),
}


class Cluster:
    """Commands inside the cluster in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, command: str, user: str = "run") -> str:
        """What a shell command prints, as user alice or as `root`."""
        done = subprocess.run([CLUSTER, user, self.folder, command], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def state(self, job: str) -> str:
        """The state of a job; of an array or a heterogeneous one the states of all its parts."""
        return self.run(f"squeue -h -o '%T %r' -j {job} 2>/dev/null").strip()


def submit(cluster: Cluster, name: str) -> str:
    """Submit the job of that name; its number."""
    options, script, during, _, _ = ENDS[name]
    held = ""
    if during == "DEPENDENCY":
        held = cluster.run("cd jobs && sbatch --parsable --hold -J fails --wrap 'exit 3'").strip()
    lines = ["#!/bin/bash"]
    first, *others = options.format(held=held).split(" : ")
    lines += [f"#SBATCH {first}"] if first else []
    lines += [row for other in others for row in ("#SBATCH hetjob", f"#SBATCH {other}")]
    path = cluster.folder / "root/home/alice/jobs" / f"{name}.sh"
    path.write_text("\n".join([*lines, script.replace("{forensics}", str(FORENSICS)), ""]))
    job = cluster.run(f"cd jobs && sbatch --parsable -J {name} {name}.sh").strip()
    if held:
        cluster.run(f"scontrol release {held}")
    return job


def disturb(cluster: Cluster, name: str, job: str) -> None:
    """What is done to a job while it runs."""
    during = ENDS[name][2]
    if during == "NODE_DOWN":
        time.sleep(3)
        cluster.run(f"kill -9 $(cat /run/slurmd-n2.pid) $(pgrep -f 'slurmstepd: .{job}\\.')", "root")
    elif during not in ("", "DEPENDENCY"):
        cluster.run(during.format(job=job))


def wait(cluster: Cluster, name: str, job: str) -> bool:
    """Has the job ended, or will it never start?"""
    until = time.monotonic() + DONE_S
    while time.monotonic() < until:
        state = cluster.state(job)
        if not state or "DependencyNeverSatisfied" in state:
            time.sleep(1)
            return True
        time.sleep(1)
    return False


def judge(name: str, asked: str) -> tuple[bool, str]:
    """Is this answer of `forensics slurm JOB -f json` right, and what it says first."""
    causes, words = ENDS[name][3:]
    try:
        report = json.loads(asked)
    except ValueError:
        return False, asked.strip()[-300:]
    first = report["causes"][0]
    said = json.dumps(report, ensure_ascii=False)
    named = first["id"] if report["verdict"] == "crash" else ""  # what is told without proof is no answer
    silent = ("no_crash", "undetermined") if name == "dependency" else ("no_crash",)
    right = named in causes if causes else report["verdict"] in silent
    missing = [w for w in words if w not in said]
    return (
        right and not missing,
        f"{report['verdict']}: {first['id']} {first['probability']:.2f}{f', without {missing}' if missing else ''}",
    )


def record(cluster: Cluster, jobs: dict[str, str], target: Path) -> None:
    """Keep what the programs of Slurm answered for each job, and its output."""
    from forensics.adapters.slurm import accounting

    kept: dict[str, Any] = {}
    for name, job in jobs.items():
        answers = {}
        for command in (accounting.sacct_command(job), ["scontrol", "show", "job", job]):
            done = subprocess.run(
                [CLUSTER, "run", cluster.folder, " ".join(command)], capture_output=True, text=True, check=False
            )
            answers[" ".join(command)] = done.stdout
        outputs = {
            p.name: p.read_text()[-3000:] for p in sorted((cluster.folder / "root/home/alice/jobs").glob(f"slurm-{job}*.out"))
        }
        kept[name] = {"job": job, "answers": answers, "outputs": outputs}
    target.write_text(json.dumps(kept, indent=1) + "\n")


def main() -> None:
    """Submit all, end them, ask, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--user", default="run", choices=["run", "root"])
    given = parser.parse_args()
    cluster = Cluster(given.folder)
    cluster.run("mkdir -p jobs; scancel -u alice")
    cluster.run("kill -0 $(cat /run/slurmd-n2.pid) 2> /dev/null || slurmd -N n2", "root")
    for _ in range(60):
        if cluster.run("sinfo -h -N -o %T").split() == ["idle", "idle"]:
            break
        time.sleep(1)
    else:
        sys.exit(cluster.run("sinfo -N -l"))
    folder = given.folder / "root/home/alice/jobs"
    for name, text in FILES.items():
        (folder / name).write_text(text)
    names = [n for n in ENDS if not given.only or n in given.only.split(",")]
    jobs = {}
    for name in names:
        jobs[name] = submit(cluster, name)
        if not re.fullmatch(r"\d+", jobs[name]):
            sys.exit(f"{name}: {jobs[name]}")
    time.sleep(2)
    for name in names:
        if ENDS[name][2] not in ("", "DEPENDENCY"):
            until = time.monotonic() + 60
            while "RUNNING" not in cluster.state(jobs[name]) and time.monotonic() < until:
                time.sleep(0.5)
            disturb(cluster, name, jobs[name])
    for name in sorted(names, key=lambda n: n != "node_down"):
        if not wait(cluster, name, jobs[name]):
            print(f"{name}: job {jobs[name]} did not end: {cluster.state(jobs[name])}")
        if name == "node_down":
            cluster.run("slurmd -N n2", "root")
    print(json.dumps(jobs), flush=True)
    if given.record:
        record(cluster, jobs, given.record)
    right = 0
    for name in names:
        before = time.monotonic()
        good, said = judge(name, cluster.run(f"{FORENSICS} slurm {jobs[name]} -f json 2>/dev/null", given.user))
        right += good
        print(f"{'right' if good else 'WRONG'}  {name:<12} job {jobs[name]:<4} {time.monotonic() - before:5.1f} s  {said}")
    print(f"{right} of {len(names)} right")


if __name__ == "__main__":
    main()
