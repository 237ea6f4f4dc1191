"""The node and the job that srun and Slurm's steps name behind the evidence; the service that Compose started.

srun: error: gpu-04: task 3: Exited with exit code 1     -> host gpu-04
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import part_pattern
from forensics.model import Fields, Proof, Scan
from forensics.readers.surroundings.near import NEAR, WIDE, Found

SRUN_TASK_PATTERN = part_pattern("slurm places", "srun task")
SLURM_STEP_PATTERN = part_pattern("slurm places", "slurm step")
# What a job script, a scheduler and a launcher say at the start: `Job 4711 on gpu-03, started ...`, `SLURMD_NODENAME=gpu-03`
JOB_NODE_PATTERN = part_pattern("slurm places", "job node")
MAX_HEAD_LINES = 40  # chosen by hand: what a job script prints before its program
COMPOSE_SERVICE_PATTERN = part_pattern("slurm places", "compose service")


def node_of_job(scan: Scan) -> str:
    """The node that the first lines of a log give its job, if they name one alone."""
    found = {m["node"] for line in scan.head[:MAX_HEAD_LINES] if (m := JOB_NODE_PATTERN.search(line.text))}
    return found.pop() if len(found) == 1 else ""


def job_of_step(text: str) -> str:
    """The number of the job of which a line of Slurm tells; empty if it tells of none."""
    found = SLURM_STEP_PATTERN.search(text)
    return found["job"] if found else ""


def task_of_srun(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The node whose task srun says has failed behind the evidence, and the job of its step; the service that Compose started."""
    found: Found = {}
    for text in lines[at : at + WIDE] if not {"host", "node"} & facts.keys() else ():
        if "host" not in found and (task := SRUN_TASK_PATTERN.search(text)):
            found["host"] = task["host"]
        elif "host" in found and "job" not in facts and (step := SLURM_STEP_PATTERN.search(text)):
            return found | {"job": step["job"]}
    if "container" not in facts and (
        m := next(filter(None, map(COMPOSE_SERVICE_PATTERN.search, lines[max(0, at - NEAR) : at + 1])), None)
    ):
        found["container"] = m["service"]
    return found
