"""Runs 200 epilogs of a real Slurm with faults put into ours, and looks after each batch whether a node was drained.

    benchmarks/slurm_cluster.sh up FOLDER "$PWD"
    python benchmarks/slurm_epilogs.py FOLDER [--jobs 200]

Each batch of jobs (`exit 1`, so that there is something to tell) ends under an Epilog and an EpilogSlurmctld with one fault: Python
is gone, is killed at once, hangs, raises, has a full disk to write to, or none. The script's own time is measured in each.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import time
from pathlib import Path

from slurm_ends import CLUSTER, FORENSICS, Cluster

PLACE = "/etc/slurm/forensics-epilog"
WORDS = "--append --folder /var/spool/forensics"
# fault -> the program that stands in the interpreter's place, or the options of the real one
FAULTS: dict[str, str] = {
    "none": WORDS,
    "python is gone": "absent",
    "killed at once": "kill -9 $$",
    "hangs": "exec sleep 60",
    "raises": "echo Traceback >&2; exit 1",
    "disk full": "--append --folder /mnt/scratch",
}


def install(cluster: Cluster, fault: str) -> None:
    """Put the script with this fault where slurm.conf names it; the full disk is filled."""
    root = cluster.folder / "root"
    words = FAULTS[fault] if FAULTS[fault].startswith("--") else WORDS
    text = cluster.run(f"{FORENSICS} slurm epilog {words} --script", "root")
    if not FAULTS[fault].startswith("--"):
        stand_in = root / "etc/slurm/stand-in"
        stand_in.unlink(missing_ok=True)
        if FAULTS[fault] != "absent":
            stand_in.write_text(f"#!/bin/sh\n{FAULTS[fault]}\n")
            stand_in.chmod(0o755)
        text = text.replace(sys.executable, "/etc/slurm/stand-in")
    (root / PLACE[1:]).write_text(text)
    (root / PLACE[1:]).chmod(0o755)
    with contextlib.suppress(OSError):
        (root / "mnt/scratch/fills").write_bytes(b"x" * (9 << 20) if fault == "disk full" else b"")


def timed(cluster: Cluster) -> float:
    """Seconds of the script itself, as slurmd calls it."""
    root = cluster.folder / "root"
    started = time.monotonic()
    done = subprocess.run(["/usr/sbin/chroot", root, PLACE], env={"SLURM_JOB_ID": "999999"}, cwd=root, check=False)
    assert done.returncode == 0
    return time.monotonic() - started


def main() -> None:
    """All batches, then a line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=200)
    given = parser.parse_args()
    cluster = Cluster(given.folder)
    more = given.folder / "root/etc/slurm/more.conf"
    install(cluster, "none")
    more.write_text(f"Epilog={PLACE}\nEpilogSlurmctld={PLACE}\n")
    cluster.run("scontrol reconfigure; rm -rf /var/spool/forensics/*", "root")
    each, drained, ended = -(-given.jobs // len(FAULTS)), 0, 0
    for fault in FAULTS:
        install(cluster, fault)
        job = cluster.run(f"cd jobs && sbatch --parsable --mem=20M --array=1-{each} --wrap 'echo evaluating; exit 1'").strip()
        while cluster.run(f"squeue -h -j {job} 2> /dev/null").strip():
            time.sleep(1)
        took = [timed(cluster) for _ in range(10)]
        nodes = cluster.run("sinfo -h -N -o '%N %T %E'").splitlines()
        bad = [n for n in nodes if "drain" in n or "down" in n]
        drained += len(bad)
        ended += each
        print(f"{fault:<16} {each} jobs, {', '.join(bad) or 'no node drained'}; the script took {statistics.median(took):.3f} s, "
              f"at most {max(took):.3f} s", flush=True)  # fmt: skip
        if fault == "none":
            until = time.monotonic() + 900
            while time.monotonic() < until and len(list((given.folder / "root/var/spool/forensics").glob("*.json"))) < each:
                time.sleep(2)
            told = len(list((given.folder / "root/var/spool/forensics").glob("*.json")))
            outputs = (given.folder / "root/home/alice/jobs").glob(f"slurm-{job}_*.out")
            added = sum("forensics: why this job ended" in p.read_text() for p in outputs)
            print(f"{'':<16} {told} reports in the folder, {added} in the jobs' outputs")
    more.write_text("# nothing\n")
    cluster.run("scontrol reconfigure", "root")
    print(f"{drained} nodes drained by {ended} jobs, each with an Epilog and an EpilogSlurmctld; {CLUSTER.name}")


if __name__ == "__main__":
    main()
