"""The node and the job that srun and Slurm's steps name behind the evidence; the service that Compose started.

srun: error: gpu-04: task 3: Exited with exit code 1     -> host gpu-04
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Fields, Proof, Scan
from forensics.readers.surroundings.near import NEAR, WIDE, Found

SRUN_TASK_PATTERN = lazy.regex(r"\bsrun: error: (?P<host>[A-Za-z][\w.-]{1,62}): tasks? [\d,-]+: ")
SLURM_STEP_PATTERN = lazy.regex(r"\b(?:StepId=|STEP |JobId=|JOB )(?P<job>\d{1,10})\b")
# What a job script, a scheduler and a launcher say at the start: `Job 4711 on gpu-03, started ...`, `SLURMD_NODENAME=gpu-03`
JOB_NODE_PATTERN = lazy.regex(
    r"(?i)(?:\bjob (?:\w{1,12}\W{1,3})?\d{1,12}(?: \w{1,20})? on (?:host |node )?|\bSLURMD_NODENAME ?[:=] ?)"
    r"(?P<node>[a-z][\w.-]{0,60}\d[\w.-]{0,20}?)(?=[\s,;]|\.?$)"
)
MAX_HEAD_LINES = 40  # chosen by hand: what a job script prints before its program
COMPOSE_SERVICE_PATTERN = lazy.regex(r"\bCannot (?:start|create) (?:container for )?service (?P<service>\w[\w.-]{0,60})\b")


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
