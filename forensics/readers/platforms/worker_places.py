"""The worker process that Ray, vLLM or the kernel's report names, and Hadoop's job.

... Worker IP address: 10.0.0.7 ... Worker PID: 4711      -> host 10.0.0.7, pid 4711
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof
from forensics.readers.surroundings.near import MAX_READ_PROOFS, NEAR, WIDE, Found

PATTERNS = patterns_of("worker places")


def worker(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The worker that Ray lost; the task for which the kernel looked for memory, and its container."""
    found: Found = {}
    for text in lines if "task" in facts and "pid" not in facts else ():
        if (named := PATTERNS.named_process.search(text)) and named["task"] == facts["task"]:
            return {"pid": int(named["pid"])}
    for p in proofs[:MAX_READ_PROOFS]:
        if (worker := PATTERNS.ray_worker.search(p.text)) and "pid" not in facts:
            return {"host": worker["host"], "pid": int(worker["pid"])}
    if not {"task", "pid"} & facts.keys() and (label := PATTERNS.label.match(proofs[0].text)):
        host = {"host": label["host"]} if label["host"] else {}
        return {"task": label["task"], "pid": int(label["pid"])} | host
    if not {"task", "pid"} & facts.keys() and (label := PATTERNS.mpi_label.match(proofs[0].text)):
        return {"pid": int(label["pid"])}
    near = lines[max(0, at - WIDE) : at + 1]
    if "pid" in facts or not any("oom_kill_process" in t or "out_of_memory" in t for t in near):
        return found
    for text in near:
        if task := PATTERNS.allocating_task.search(text):
            found["asking_task"] = f"{task['task']} (pid {task['pid']})"
        if container := PATTERNS.cgroup_of_container.search(text):
            found["container"] = container["container"]
    return found


def hadoop_job(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The job of Hadoop that the lines next to the evidence name."""
    if "job" in facts:
        return {}
    found = next(filter(None, (PATTERNS.hadoop_job.search(t) for t in reversed(lines[max(0, at - NEAR) : at + NEAR]))), None)
    return {"job": found["job"]} if found else {}
