"""What the lines around the evidence tell of the place: the program's own line, the pod, the host, the step.

  File "train_style.py", line 194, in main       below a traceback of library frames alone   -> file train_style.py, line_no 194
root@nas02[/]# nvidia-smi                        above what the command printed              -> host nas02

Formats: CPython's, IPython's and Rich's frames; the prompts of bash and zsh; kubectl's tables, events and JSON; Docker's events;
Ray's and PyTorch's messages; XLA's metadata.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

from forensics.core import lazy
from forensics.core.text import number_ranges
from forensics.model import NO_LINES, Around, Fields, LinesAround, Proof, Value
from forensics.readers.progress.counters import bar_counter, named_counters
from forensics.readers.python.library_files import knows_own_code
from forensics.readers.python.near_tracebacks import code_near
from forensics.readers.surroundings.near_messages import MESSAGE_READERS
from forensics.readers.surroundings.near_notebooks import NOTEBOOK_READERS

Found = dict[str, Value]
NEAR = 3  # lines in which a message tells the rest of itself
WIDE = 60  # lines of one report: a backtrace, a document of a pod
MAX_PROMPT_LINES = 400  # chosen by hand: what one command printed
MAX_READ_PROOFS = 3  # as in named_place
RANK_TAG_PATTERN = lazy.regex(r"\[[Rr]ank ?(?P<rank>\d{1,6})\]|--local[_-]rank[= ](?P<local>\d{1,4})\b")
TIMED_OUT_PATTERN = lazy.regex(r"(?i)tim(?:ed|e)[ -]?out|heartbeat monitor")
STALLED_RANK_PATTERN = lazy.regex(r"(?:\A|[>\]:\s])(?P<rank>\d{1,6}): \[[\w.-]")  # of Horovod, below `Stalled ranks:`
STALLED_FACTS = MISSING_RANKS, MISSING_REASON = "missing_ranks", "missing_reason"
QUIET_RANKS = "quiet_ranks"  # those whose lines stand in the log and do not report the time-out: `1, 3`
MAX_QUIET_RANKS = 4  # chosen by hand: of more, each one is as likely
PROMPT_PATTERN = lazy.regex(  # not of commands that ask another machine
    r"\A\s{0,8}(?:\([\w.-]{1,40}\) ?)?\[?[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z][\w.-]{0,62})"
    r"(?:(?:[:\[ ][^\n$#%>]{0,120})?\]?[$#%>]\s+(?!kubectl\b|oc\b|ssh\b|docker\b)(?=\S)|\s*\Z)"
)
POD_NAME = r"[a-z0-9][a-z0-9.*-]{0,250}[a-z0-9*]"
POD_PATTERNS = (
    lazy.regex(rf"\A(?P<pod>{POD_NAME})\s+\d+/\d+\s+[A-Z]\w+"),  # kubectl get pods
    lazy.regex(rf"\A(?P<namespace>[a-z0-9-]{{1,63}})\s+(?P<pod>{POD_NAME})\s+\d+/\d+\s+[A-Z]\w+"),  # with -A
    lazy.regex(
        rf"io\.kubernetes\.pod\.name=(?P<pod>{POD_NAME}),.{{0,400}}?io\.kubernetes\.pod\.namespace=(?P<namespace>[a-z0-9-]{{1,63}})"
    ),
    lazy.regex(rf"\bpods?/(?P<pod>{POD_NAME})(?![\w/.-])"),  # kubectl get events
    lazy.regex(rf"\bpod=\"?(?P<namespace>[a-z0-9-]{{1,63}})/(?P<pod>{POD_NAME})"),  # kubelet
)
POD_DOCUMENT_PATTERN = lazy.regex(rf'"name": ?"(?P<pod>{POD_NAME})"')
POD_MARKS = ('"containerStatuses"', '"kind": "Pod"', '"kind":"Pod"')
DESCRIBED_POD_PATTERN = lazy.regex(
    rf"\AName:\s+(?P<pod>{POD_NAME})\s*\Z"
)  # kubectl describe: its next rows tell namespace and node
NAMESPACE_ROW_PATTERN = lazy.regex(r"\ANamespace:\s+(?P<namespace>[a-z0-9-]{1,63})\s*\Z")
ASSIGNED_POD_PATTERN = lazy.regex(rf"Successfully assigned (?P<namespace>[a-z0-9-]{{1,63}})/(?P<pod>{POD_NAME}) to ")
ASKED_POD_PATTERN = lazy.regex(
    r"\bkubectl (?:-n (?P<namespace>[a-z0-9-]{1,63}) )?(?:describe|logs?|get) (?:pods?|po)[ /]"
    rf"(?:-n (?P<later>[a-z0-9-]{{1,63}}) )?(?P<pod>{POD_NAME})(?:\s|\Z)"
)
SRUN_TASK_PATTERN = lazy.regex(r"\bsrun: error: (?P<host>[A-Za-z][\w.-]{1,62}): tasks? [\d,-]+: ")
SLURM_STEP_PATTERN = lazy.regex(r"\b(?:StepId=|STEP |JobId=|JOB )(?P<job>\d{1,10})\b")
COMPOSE_SERVICE_PATTERN = lazy.regex(r"\bCannot (?:start|create) (?:container for )?service (?P<service>\w[\w.-]{0,60})\b")
NODE_PATTERN = lazy.regex(r"\bkubelet, (?P<host>[a-z0-9][\w.-]{0,62})\b|\bon this host \((?P<named>[\w.-]{1,62})\)")
ENDPOINT_PATTERN = lazy.regex(
    r"(?:rdzv[_-]endpoint|MASTER_ADDR|master[_-]addr)['\"]?\s*[:=]\s*['\"]?(?P<endpoint>[\w.-]{1,100}(?::\d{1,5})?)"
)
RAY_WORKER_PATTERN = lazy.regex(r"Worker IP address: (?P<host>[\w.:]{3,45}) .{0,40}Worker PID: (?P<pid>\d{1,10})")
NAMED_PROCESS_PATTERN = lazy.regex(r"\((?P<task>\w[\w.-]{0,60}) pid=(?P<pid>\d{1,10})\)")  # vLLM's and Ray's prefix
ALLOCATING_TASK_PATTERN = lazy.regex(r"\bPID: (?P<pid>\d{1,10}) Comm: (?P<task>\S{1,15})")
CGROUP_OF_CONTAINER_PATTERN = lazy.regex(r"\bcpuset=(?P<container>[0-9a-f]{60,64})\b")
STATUS_CONTAINER_PATTERN = lazy.regex(r'"containerID": ?"\w{1,20}://(?P<container>[0-9a-f]{64})"')
PROGRAM_PATTERN = lazy.regex(r"'-u', '(?P<program>[^'\n]{1,200}\.py)', '--local_rank=\d")  # as DeepSpeed's launcher prints it
HADOOP_JOB_PATTERN = lazy.regex(r"\b(?P<job>(?:job|application)_(?:local)?\d{6,20}_\d{1,8})\b")
PATH_PATTERN = lazy.regex(r"(?<!\S)['\"]?(?P<path>(?:/[^\s/:'\"]{1,200}){2,30})['\"]?: (?:\[Errno \d|OSError|No space)")


def nothing_near(_: Proof) -> Around:
    """For a report without its logs."""
    return NO_LINES


def place_near(facts: Fields, proofs: Sequence[Proof], around: LinesAround) -> Found:
    """The facts on the place that the lines around the first of `proofs` tell and `facts` do not."""
    if not proofs:
        return {}
    lines, at = around(proofs[0])
    if not lines:
        lines, at = [proofs[0].text], 0
    found: Found = code_near(facts, lines, at)
    for read in (*PLACE_READERS, *MESSAGE_READERS, *NOTEBOOK_READERS):
        found |= {n: v for n, v in read(facts, proofs, lines, at).items() if n not in found}
    return found


def _rank(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The rank whose tag the evidence has, if it has only one."""
    if any("rank" in name for name in facts):
        return {}
    tags = {m.groups() for p in proofs[:MAX_READ_PROOFS] for m in RANK_TAG_PATTERN.finditer(p.text)}
    if len(tags) != 1:
        return {}
    rank, local = tags.pop()
    program = PROGRAM_PATTERN.search(proofs[0].text)
    return {"rank": int(rank)} if rank else {"local_rank": int(local), **({"own_program": program["program"]} if program else {})}


def _reporters(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that report a time-out, and those that do not, by their tags; nothing if the culprit is known."""
    if "timeout_s" not in facts or "rank" not in facts or any(n.startswith(("culprit_", "missing_")) for n in facts):
        return {}
    tagged = [(int(m["rank"]), text) for text in lines if (m := RANK_TAG_PATTERN.search(text)) and m["rank"]]
    reports = {rank for rank, text in tagged if TIMED_OUT_PATTERN.search(text)} | {int(str(facts["rank"]))}
    others = {rank for rank, _ in tagged} - reports
    said = "rank " if len(reports) == 1 else "ranks "
    text = f"{said}{number_ranges(reports)} {'reports' if len(reports) == 1 else 'report'} it"
    if others and len(others) < MAX_QUIET_RANKS:
        quiet = number_ranges(others)
        return {"reporters": f"{text}, {'rank' if len(others) == 1 else 'ranks'} {quiet} not", QUIET_RANKS: quiet}
    return {"reporters": text} if len(reports) > 1 else {}


def _stalled(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The ranks that Horovod waits for, as it lists them below its warning: `Stalled ranks:`, `6: [allreduce.0, ...]`."""
    if any(name in facts for name in (*STALLED_FACTS, "culprit_rank")):
        return {}
    head = next((i for i in range(max(0, at - NEAR), min(len(lines), at + WIDE)) if "Stalled ranks:" in lines[i]), len(lines))
    listed = takewhile(bool, (STALLED_RANK_PATTERN.search(text) for text in lines[head + 1 :]))
    ranks = {int(m["rank"]) for m in listed if m}
    return {MISSING_RANKS: number_ranges(ranks), MISSING_REASON: "Horovod lists what waits for them"} if ranks else {}


def _host(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The machine in the prompt above, or in the message itself."""
    if {"host", "node"} & facts.keys():
        return {}
    said = next(filter(None, (NODE_PATTERN.search(t) for t in lines[at : at + NEAR])), None)
    if said:
        return {"host": said["host"] or said["named"]}
    for text in reversed(lines[max(0, at - MAX_PROMPT_LINES) : at + 1]):
        if found := PROMPT_PATTERN.match(text):
            return {"host": found["host"]}
    return {}


def _pod(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The pod, with its namespace if that is told."""
    if "pod" in facts:
        return {}
    for text in (*(p.text for p in proofs[:MAX_READ_PROOFS]), *lines[max(0, at - NEAR) : at + NEAR]):
        if found := next(filter(None, (p.search(text) for p in POD_PATTERNS)), None):
            return {"pod": "/".join(filter(None, (found.groupdict().get("namespace"), found["pod"])))}
    near = lines[max(0, at - WIDE) : at + WIDE]
    if described := _described_pod(lines, at):
        return {"pod": described}
    if not any(mark in text for text in near for mark in (*POD_MARKS, '"containerID"')):
        return {}
    for text in reversed(lines[max(0, at - WIDE) : at + 1]):
        if found := STATUS_CONTAINER_PATTERN.search(text):
            return {"container": found["container"]}
        if found := POD_DOCUMENT_PATTERN.search(text):
            return {"pod": found["pod"]}
    return {}


def _described_pod(lines: Sequence[str], at: int) -> str:
    """The pod whose description or events the line at `at` belongs to, as the command, the heading or the scheduler names it."""
    first = max(0, at - MAX_PROMPT_LINES)
    for i in range(min(at, len(lines) - 1), first - 1, -1):
        if named := DESCRIBED_POD_PATTERN.match(lines[i]):
            space = next(filter(None, map(NAMESPACE_ROW_PATTERN.match, lines[i + 1 : i + NEAR])), None)
            return f"{space['namespace']}/{named['pod']}" if space else ""
        if found := ASSIGNED_POD_PATTERN.search(lines[i]) or ASKED_POD_PATTERN.search(lines[i]):
            groups = found.groupdict()
            return "/".join(filter(None, (groups["namespace"] or groups.get("later"), groups["pod"])))
    return ""


def _task_of_srun(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
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


def _endpoint(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """Where the ranks were to meet, if the message is about that."""
    if not any(word in proofs[0].text.lower() for word in ("rendezvous", "c10d", "tcpstore", "store")):
        return {}
    found = next(filter(None, (ENDPOINT_PATTERN.search(t) for t in (*reversed(lines[: at + 1]), *lines[at:]))), None)
    return {"endpoint": found["endpoint"]} if found else {}


def _worker(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The worker that Ray lost; the task for which the kernel looked for memory, and its container."""
    found: Found = {}
    for text in lines if "task" in facts and "pid" not in facts else ():
        if (named := NAMED_PROCESS_PATTERN.search(text)) and named["task"] == facts["task"]:
            return {"pid": int(named["pid"])}
    for p in proofs[:MAX_READ_PROOFS]:
        if (worker := RAY_WORKER_PATTERN.search(p.text)) and "pid" not in facts:
            return {"host": worker["host"], "pid": int(worker["pid"])}
    near = lines[max(0, at - WIDE) : at + 1]
    if "pid" in facts or not any("oom_kill_process" in t or "out_of_memory" in t for t in near):
        return found
    for text in near:
        if task := ALLOCATING_TASK_PATTERN.search(text):
            found["asking_task"] = f"{task['task']} (pid {task['pid']})"
        if container := CGROUP_OF_CONTAINER_PATTERN.search(text):
            found["container"] = container["container"]
    return found


def _job(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    if "job" in facts:
        return {}
    found = next(filter(None, (HADOOP_JOB_PATTERN.search(t) for t in reversed(lines[max(0, at - NEAR) : at + NEAR]))), None)
    return {"job": found["job"]} if found else {}


def _path(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The file that an error with a number names before it: `Failed to write info to /home/u/run.json: [Errno 28] ...`."""
    if {"path", "device"} & facts.keys() or knows_own_code(facts):
        return {}
    found = next(filter(None, (PATH_PATTERN.search(p.text) for p in proofs[:MAX_READ_PROOFS])), None)
    return {"path": found["path"]} if found else {}


def _step(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The step of a progress bar in the evidence; the epoch, where the step is the end of each epoch's bar."""
    bar = bar_counter(proofs[0].text)
    found: Found = {"step_no": bar.now} if bar and bar.now and bar.of_steps and not any("step" in n for n in facts) else {}
    step = facts.get("step_no")
    if step is not None and f"{step}/{step}" in proofs[0].text:
        above = reversed(lines[max(0, at - NEAR) : at + 1])
        epoch = next((c.now for text in above for c in named_counters(text) if c.unit == "epoch"), None)
        found |= {"epoch": epoch} if epoch is not None else {}
    return found


PLACE_READERS: tuple[Callable[[Fields, Sequence[Proof], Sequence[str], int], Found], ...] = (
    _rank,
    _reporters,
    _stalled,
    _worker,
    _path,
    _host,
    _task_of_srun,
    _pod,
    _endpoint,
    _job,
    _step,
)
