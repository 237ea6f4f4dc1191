"""The worker process that Ray, vLLM or the kernel's report names, and Hadoop's job.

... Worker IP address: 10.0.0.7 ... Worker PID: 4711      -> host 10.0.0.7, pid 4711
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_READ_PROOFS, NEAR, WIDE, Found

LABEL_PATTERN = lazy.regex(  # before each line of a process of vLLM or Ray
    r"\A(?:\x1b\[\d{1,2}m)?\((?P<task>[A-Za-z]\w[\w.:<>-]{0,60}) (?:rank=\d{1,6},? )?pid=(?P<pid>\d{1,10})"
    r"(?:, ip=(?P<host>[\w.:]{3,45}))?\)"
)
MPI_LABEL_PATTERN = lazy.regex(
    r"\A(?:\d{1,6}: )?\[[A-Za-z][\w.-]{0,60}:(?P<pid>\d{2,8})(?::\d{1,8}){0,2}\] "
)  # Open MPI's, UCX's
RAY_WORKER_PATTERN = lazy.regex(r"Worker IP address: (?P<host>[\w.:]{3,45}) .{0,40}Worker PID: (?P<pid>\d{1,10})")
NAMED_PROCESS_PATTERN = lazy.regex(r"\((?P<task>\w[\w.-]{0,60}) pid=(?P<pid>\d{1,10})\)")  # vLLM's and Ray's prefix
ALLOCATING_TASK_PATTERN = lazy.regex(r"\bPID: (?P<pid>\d{1,10}) Comm: (?P<task>\S{1,15})")
CGROUP_OF_CONTAINER_PATTERN = lazy.regex(r"\bcpuset=(?P<container>[0-9a-f]{60,64})\b")
HADOOP_JOB_PATTERN = lazy.regex(r"\b(?P<job>(?:job|application)_(?:local)?\d{6,20}_\d{1,8})\b")


def worker(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The worker that Ray lost; the task for which the kernel looked for memory, and its container."""
    found: Found = {}
    for text in lines if "task" in facts and "pid" not in facts else ():
        if (named := NAMED_PROCESS_PATTERN.search(text)) and named["task"] == facts["task"]:
            return {"pid": int(named["pid"])}
    for p in proofs[:MAX_READ_PROOFS]:
        if (worker := RAY_WORKER_PATTERN.search(p.text)) and "pid" not in facts:
            return {"host": worker["host"], "pid": int(worker["pid"])}
    if not {"task", "pid"} & facts.keys() and (label := LABEL_PATTERN.match(proofs[0].text)):
        host = {"host": label["host"]} if label["host"] else {}
        return {"task": label["task"], "pid": int(label["pid"])} | host
    if not {"task", "pid"} & facts.keys() and (label := MPI_LABEL_PATTERN.match(proofs[0].text)):
        return {"pid": int(label["pid"])}
    near = lines[max(0, at - WIDE) : at + 1]
    if "pid" in facts or not any("oom_kill_process" in t or "out_of_memory" in t for t in near):
        return found
    for text in near:
        if task := ALLOCATING_TASK_PATTERN.search(text):
            found["asking_task"] = f"{task['task']} (pid {task['pid']})"
        if container := CGROUP_OF_CONTAINER_PATTERN.search(text):
            found["container"] = container["container"]
    return found


def hadoop_job(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The job of Hadoop that the lines next to the evidence name."""
    if "job" in facts:
        return {}
    found = next(filter(None, (HADOOP_JOB_PATTERN.search(t) for t in reversed(lines[max(0, at - NEAR) : at + NEAR]))), None)
    return {"job": found["job"]} if found else {}
