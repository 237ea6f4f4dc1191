"""Names of machines, files, workers, jobs, pods and functions in the lines near the evidence, for each platform that prints them.

The machine, which a prompt, a prefix, a record or a program's first line names:

root@nas02[/]# nvidia-smi                                           -> host nas02
... mmdet - INFO - Start running, host: user@gpu-04, work_dir: ...  -> host gpu-04

Files, addresses, peers and ports that errors name.

/usr/bin/python3: No module named ipykernel_launcher    -> path /usr/bin/python3

The worker process that Ray, vLLM or the kernel's report names, and Hadoop's job.

... Worker IP address: 10.0.0.7 ... Worker PID: 4711      -> host 10.0.0.7, pid 4711

The node and the job that srun and Slurm's steps name behind the evidence; the service that Compose started.

srun: error: gpu-04: task 3: Exited with exit code 1     -> host gpu-04

The pod that lines of Kubernetes near the evidence name: kubectl's tables, descriptions and events, the kubelet's, JSON.

fit-0   0/1   OOMKilled   0   3m      -> pod fit-0

Parts of the messages of kubelets, schedulers and container runtimes.

fit-0_ml(0a1b-...)                                          -> pod fit-0, namespace ml
Liveness probe failed: HTTP probe failed with statuscode: 503   -> HTTP probe failed with statuscode: 503

What Java prints: the exceptions of a chain, and the frames below each.

Caused by: java.io.IOException: No space left on device  -> exc_type java.io.IOException, exc_message No space left on device
        at org.acme.train.Decoder.decode(Decoder.java:56)      -> named_place Decoder.java:56

The stack that Go prints below a panic.

goroutine 430 [running]:
example.org/scheduler.(*Plugin).Filter(0xc000)
\t/workspace/pkg/scheduler/filter.go:199 +0x99b       -> named_place /workspace/pkg/scheduler/filter.go:199
"""

from collections.abc import Sequence

from forensics.data_files.named_parts import PartRow, first_parts, part_rows, patterns_of
from forensics.model import Fields, Proof, Scan, Value
from forensics.readers.base import (
    MAX_FAULT_LINES,
    MAX_LISTED_DEVICES,
    MAX_PROMPT_LINES,
    MAX_READ_PROOFS,
    MAX_TOLD_PROOFS,
    NEAR,
    WIDE,
    Found,
)
from forensics.readers.python.library_files import knows_own_code

MACHINES = patterns_of("machines")
NO_HOSTS = ("host", "localhost", "kernel", "server", "node")
MAX_LISTED_TASKS = 100_000  # more than the largest jobs have: a longer list is a slip
NO_STARTED_HOSTS = ("localhost", "localhost.localdomain")


def prompt_host(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in the prompt above, or in the message itself."""
    if {"host", "node"} & facts.keys():
        return {}
    said = next(filter(None, (MACHINES.node.search(t) for t in lines[at : at + NEAR])), None)
    if said:
        return {"host": said["host"] or said["named"]}
    for text in reversed(lines[max(0, at - MAX_PROMPT_LINES) : at + 1]):
        if found := MACHINES.prompt.match(text):
            return {"host": found["host"]}
    return {}


def hosts(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in a prefix or in a record that the evidence is a row of; several if lines of one kind name them."""
    if {"host", "node"} & facts.keys():
        return {}
    texts = [p.text for p in proofs if p.signature == proofs[0].signature]
    named = _named_hosts(part_rows("hosts"), texts)
    if not named and MACHINES.document_row.match(proofs[0].text):
        near = lines[max(0, at - MAX_FAULT_LINES) : at + MAX_FAULT_LINES]
        named = _named_hosts(part_rows("hosts of documents"), near)[:1]
    return {"host": ", ".join(named[:MAX_LISTED_DEVICES])} if named else {}


def _named_hosts(rows: Sequence[PartRow], texts: Sequence[str]) -> list[str]:
    names = (name for row in rows for text in texts for name in row.parts(text).values())
    return list(dict.fromkeys(n for n in names if n not in NO_HOSTS))


def started_on(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The host that the program named when it started, or the worker that the launcher names; not where its code is known."""
    if agent := MACHINES.agent.search(proofs[0].text):
        return {} if any("rank" in n for n in facts) else {"local_rank": int(agent["local_rank"]), "pid": int(agent["pid"])}
    if {"host", "node", "pid", "job"} & facts.keys() or knows_own_code(facts):
        return {}
    named = next(filter(None, map(MACHINES.started_on.search, lines[at::-1])), None)
    host = str(named[named.lastgroup or 0]) if named else ""
    return {"host": host} if host and host not in NO_STARTED_HOSTS else {}


THINGS = patterns_of("named things")


def named_file(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file or the address that an error names."""
    if {"path", "device", "asked_url"} & facts.keys() or knows_own_code(facts):
        return {}
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    path = next((found["path"] for row in part_rows("named paths") for found in map(row.parts, texts) if found), None)
    url = next((m["url"] for m in map(THINGS.address.search, texts) if m), None)
    return {"path": path} if path else {"asked_url": url} if url else {}


def path_before_error(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file that an error with a number names before it: `Failed to write info to /home/u/run.json: [Errno 28] ...`."""
    if {"path", "device"} & facts.keys() or knows_own_code(facts):
        return {}
    found = next(filter(None, (THINGS.path.search(p.text) for p in proofs[:MAX_READ_PROOFS])), None)
    return {"path": found["path"]} if found else {}


def connection(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The address that could not be reached, the peer that failed, or the port that was taken; a peer's port is no place."""
    texts = [p.text for p in proofs[:MAX_TOLD_PROOFS]]
    if reached := next(filter(None, map(THINGS.connect.search, texts)), None):
        return {"endpoint": f"{reached['host']}:{reached['port']}"}
    if peer := next(filter(None, map(THINGS.peer.search, texts)), None):
        return {"peer": peer["peer"]}
    return {"listening_port": facts["port"]} if "port" in facts and any(map(THINGS.listen.search, texts)) else {}


WORKER_LINES = patterns_of("worker places")


def worker(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The worker that Ray lost; the task for which the kernel looked for memory, and its container."""
    found: Found = {}
    for text in lines if "task" in facts and "pid" not in facts else ():
        if (named := WORKER_LINES.named_process.search(text)) and named["task"] == facts["task"]:
            return {"pid": int(named["pid"])}
    for p in proofs[:MAX_READ_PROOFS]:
        if (worker := WORKER_LINES.ray_worker.search(p.text)) and "pid" not in facts:
            return {"host": worker["host"], "pid": int(worker["pid"])}
    if not {"task", "pid"} & facts.keys() and (label := WORKER_LINES.label.match(proofs[0].text)):
        host = {"host": label["host"]} if label["host"] else {}
        return {"task": label["task"], "pid": int(label["pid"])} | host
    if not {"task", "pid"} & facts.keys() and (label := WORKER_LINES.mpi_label.match(proofs[0].text)):
        return {"pid": int(label["pid"])}
    near = lines[max(0, at - WIDE) : at + 1]
    if "pid" in facts or not any("oom_kill_process" in t or "out_of_memory" in t for t in near):
        return found
    for text in near:
        if task := WORKER_LINES.allocating_task.search(text):
            found["asking_task"] = f"{task['task']} (pid {task['pid']})"
        if container := WORKER_LINES.cgroup_of_container.search(text):
            found["container"] = container["container"]
    return found


def hadoop_job(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The job of Hadoop that the lines next to the evidence name."""
    if "job" in facts:
        return {}
    found = next(filter(None, (WORKER_LINES.hadoop_job.search(t) for t in reversed(lines[max(0, at - NEAR) : at + NEAR]))), None)
    return {"job": found["job"]} if found else {}


SRUN = patterns_of("slurm places")
MAX_HEAD_LINES = 40  # chosen by hand: what a job script prints before its program


def node_of_job(scan: Scan) -> str:
    """The node that the first lines of a log give its job, if they name one alone."""
    found = {m["node"] for line in scan.head[:MAX_HEAD_LINES] if (m := SRUN.job_node.search(line.text))}
    return found.pop() if len(found) == 1 else ""


def job_of_step(text: str) -> str:
    """The number of the job of which a line of Slurm tells; empty if it tells of none."""
    found = SRUN.slurm_step.search(text)
    return found["job"] if found else ""


def task_of_srun(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The node whose task srun says has failed behind the evidence, and the job of its step; the service that Compose started."""
    found: Found = {}
    for text in lines[at : at + WIDE] if not {"host", "node"} & facts.keys() else ():
        if "host" not in found and (task := SRUN.srun_task.search(text)):
            found["host"] = task["host"]
        elif "host" in found and "job" not in facts and (step := SRUN.slurm_step.search(text)):
            return found | {"job": step["job"]}
    if "container" not in facts and (
        m := next(filter(None, map(SRUN.compose_service.search, lines[max(0, at - NEAR) : at + 1])), None)
    ):
        found["container"] = m["service"]
    return found


def tasks_of_srun(text: str) -> set[int]:
    """The tasks that a line of srun lists: `srun: error: n1: tasks 0-1,3: Killed` -> 0, 1, 3."""
    found = SRUN.srun_task.search(text)
    parts = [run.partition("-") for run in found["tasks"].split(",")] if found else []
    ends = [(int(a), int(b or a)) for a, _, b in parts if a.isdecimal() and (b.isdecimal() or not b)]
    return {n for a, b in ends for n in range(a, min(b, a + MAX_LISTED_TASKS) + 1)}


PODS = patterns_of("kubernetes places")
POD_MARKS = ('"containerStatuses"', '"kind": "Pod"', '"kind":"Pod"')


def pod(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The pod, with its namespace if that is told."""
    if "pod" in facts:
        return {}
    if named := first_parts("pods", (*(p.text for p in proofs[:MAX_READ_PROOFS]), *lines[max(0, at - NEAR) : at + NEAR])):
        return {"pod": "/".join(filter(None, (named.get("namespace"), named["pod"])))}
    near = lines[max(0, at - WIDE) : at + WIDE]
    if described := _described_pod(lines, at):
        return {"pod": described}
    if not any(mark in text for text in near for mark in (*POD_MARKS, '"containerID"')):
        return {}
    for text in reversed(lines[max(0, at - WIDE) : at + 1]):
        if found := PODS.status_container.search(text):
            return {"container": found["container"]}
        if found := PODS.pod_document.search(text):
            return {"pod": found["pod"]}
    return {}


def _described_pod(lines: Sequence[str], at: int) -> str:
    """The pod whose description or events the line at `at` belongs to, as the command, the heading or the scheduler names it."""
    first = max(0, at - MAX_PROMPT_LINES)
    for i in range(min(at, len(lines) - 1), first - 1, -1):
        if named := PODS.described_pod.match(lines[i]):
            space = next(filter(None, map(PODS.namespace_row.match, lines[i + 1 : i + NEAR])), None)
            return f"{space['namespace']}/{named['pod']}" if space else ""
        if found := first_parts("described pods", lines[i : i + 1]):
            return "/".join(filter(None, (found.get("namespace") or found.get("later"), found["pod"])))
    return ""


def pod_and_namespace(written: str) -> dict[str, Value]:
    """Pod and namespace as the kubelet (`fit-0_ml(0a1b)`) and kubectl (`ml/fit-0`) write them."""
    if found := PODS.pod_id.match(written):
        return dict(found.groupdict())
    namespace, slash, pod = written.rpartition("/")
    return {"pod": pod, **({"namespace": namespace} if slash else {})} if pod else {}


def workload_of(pod: str) -> str:
    """What runs a pod, as far as its name shows it: `fit-7f9c6d5b8-x2x4k` -> deployment/fit, `fit-0` -> statefulset/fit."""
    for pattern in (PODS.pod_of_a_deployment, PODS.pod_of_a_job, PODS.pod_of_a_set):
        if found := pattern.match(pod):
            return "/".join(next((kind, name) for kind, name in found.groupdict().items()))
    return ""


def without_preemption(text: str) -> str:
    """The scheduler's message without its sentence on preemption."""
    return PODS.preemption.sub("", text)


def probe_message(text: str) -> str:
    """What a probe that failed says; empty for other lines."""
    found = PODS.probe_message.search(text)
    return str(found["says"]) if found else ""


def runtime_message(text: str) -> str:
    """Why a container runtime could not start the process; empty for other lines."""
    found = PODS.runtime_message.search(text)
    return str(found["says"]) if found else ""


JAVA = patterns_of("java")


def is_library_frame(text: str) -> bool:
    """Is the line a frame of the Java library, or of one that many programs use?"""
    return JAVA.jvm_library_frame.search(text) is not None


def caused_by(text: str) -> dict[str, Value]:
    """Class and message of the exception that caused the one above it; empty for any other line."""
    found = JAVA.caused_by.match(text)
    return dict(found.groupdict()) if found else {}


def java_frame(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries, of the stack below the exception."""
    for text in lines[at + 1 : at + 1 + WIDE] if not {"file", "named_place"} & facts.keys() else ():
        found = JAVA.java_frame.search(text)
        if found is None:
            break
        if not is_library_frame(text):
            return {"named_place": f"{found['file']}:{found['line']}"}
    return {}


def go_frame(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries, of the stack below a panic."""
    if "file" in facts or not any(map(JAVA.goroutine.match, lines[at + 1 : at + 1 + NEAR])):
        return {}
    frames = filter(None, map(JAVA.go_frame.match, lines[at + 1 : at + 1 + WIDE]))
    own = next((m for m in frames if not JAVA.go_library.search(m["file"])), None)
    return {"named_place": f"{own['file']}:{own['line']}"} if own else {}
