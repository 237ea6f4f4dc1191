"""The node and the job that srun and Slurm's steps name behind the evidence; the service that Compose started.

srun: error: gpu-04: task 3: Exited with exit code 1     -> host gpu-04
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof, Scan
from forensics.readers.surroundings.near import NEAR, WIDE, Found

PATTERNS = patterns_of("slurm places")
MAX_HEAD_LINES = 40  # chosen by hand: what a job script prints before its program


def node_of_job(scan: Scan) -> str:
    """The node that the first lines of a log give its job, if they name one alone."""
    found = {m["node"] for line in scan.head[:MAX_HEAD_LINES] if (m := PATTERNS.job_node.search(line.text))}
    return found.pop() if len(found) == 1 else ""


def job_of_step(text: str) -> str:
    """The number of the job of which a line of Slurm tells; empty if it tells of none."""
    found = PATTERNS.slurm_step.search(text)
    return found["job"] if found else ""


def task_of_srun(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The node whose task srun says has failed behind the evidence, and the job of its step; the service that Compose started."""
    found: Found = {}
    for text in lines[at : at + WIDE] if not {"host", "node"} & facts.keys() else ():
        if "host" not in found and (task := PATTERNS.srun_task.search(text)):
            found["host"] = task["host"]
        elif "host" in found and "job" not in facts and (step := PATTERNS.slurm_step.search(text)):
            return found | {"job": step["job"]}
    if "container" not in facts and (
        m := next(filter(None, map(PATTERNS.compose_service.search, lines[max(0, at - NEAR) : at + 1])), None)
    ):
        found["container"] = m["service"]
    return found
