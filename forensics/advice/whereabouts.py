"""Say in words who was affected and where, from the facts of a case.

{"culprit_rank": 37, "node": "node04", "gpu": 3, "job": "4711"}   -> where "rank 37 on node04, GPU 3, job 4711", who "job 4711"
{"task": "python", "pid": 912, "owner": "Slurm step 4001.0"}      -> where "python (pid 912), Slurm step 4001.0", who "job 4001"
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from forensics.advice.wording import fact_text, fill_template
from forensics.core import lazy
from forensics.model import Fields, JobContext, Proof, Value
from forensics.readers.platforms.places import job_of_step
from forensics.readers.python.frames import cell_number
from forensics.readers.python.library_files import CODE_FACTS, is_library_file, without_library_folder

SLURM_OWNER_PATTERN = lazy.regex(r"Slurm (?:step|job) (?P<job>\d+)")
SESSION = "the session of"
NAMED_FACTS = {  # what to call facts that tell the place where nothing narrower does, the most telling first
    "named_place": "",
    "needed_by": "",
    "path": "path",
    "dimm": "memory module",
    "interface": "network interface",
    "server": "server",
    "asked_url": "",
    "nid": "server",
    "endpoint": "endpoint",
    "peer": "peer",
    "stack_module": "kernel module",
    "stack_library": "library",
    "asking_task": "memory asked for by",
    "cpu": "CPU",
    "kernel_function": "kernel function",
    "running_task": "task",
    "listening_port": "port",
}
WORKERS = {"rank", "culprit_rank", "task"}  # one of many that run the same code: a library's line tells which part of it
STOPPED_IN = {"cpu": "CPU", "kernel_function": "kernel function"}
LAST_FACTS = {
    "logged_at": "logged at",
    "layer": "layer",
    "module": "module",
    "device": "device",
    "program": "program",
}  # they name a thing, not a place
NO_PLACE_PATTERN = lazy.regex(r"(?:tty|pts/|ttyS|:)\d|\^")  # the device of a session; `^lo`, which names what is left out
NO_PROCESSES = ("0", "<unnamed>", "<unknown>", "swapper/0")  # the idle task, and threads without a name
OWNER_FACTS = ("pod", "container", "unit", "service")  # facts that name the owner of the processes
TOLD_POD = "told_pod"  # a pod in words, with how its container ended
HOST_FACTS = ("node", "host")  # the node that a message names stands before the host that printed it
RANK_FACTS = ("rank", "culprit_rank", "culprit_ranks", "missing_ranks", "reporters")  # one of them may run on any node of the job
LOCAL_HOST_NAMES = ("localhost", "127.0.0.1")  # the name of every machine for itself
TEMPORARY_CELL = "ipykernel_"  # in the name of the file that a cell's code is run from: `/tmp/ipykernel_5460/1196984475.py`
EDITOR_CELL = ".ipynb Cell "  # in the name that Visual Studio Code gives a cell; it counts cells, not executions
STEP_FACTS = ("step_no", "onset_step", "last_step")
MAX_PLACE_CHARS = 60  # chosen by hand: of one part, which fits in a row of the report; the end of a path is kept


def is_position_only(facts: Fields) -> bool:
    """Is how far the run had come all that tells the place?"""
    return not location_text({n: v for n, v in facts.items() if n not in ("epoch", "epoch_of_step", *STEP_FACTS)})


def affected(facts: Fields) -> str:
    """Who was affected, short enough for a list of incidents: `job 4711`, `python (pid 912)`; empty if unknown."""
    owners = [o for o in _owners(facts) if not o.startswith(SESSION)]  # a user runs many things in a session
    return next(iter((*owners, *_processes(facts), *_ranks(facts), *_devices(facts))), "")


def location_text(facts: Fields) -> str:
    """All parts of where it happened, the most exact first; empty if unknown."""
    if facts.get("culprit_kind") == "ended_well":  # the code is that of the ranks that lost it
        facts = {name: value for name, value in facts.items() if name not in chain(*CODE_FACTS)}
    code = _code(facts) or ([] if "path" in facts else _operation(facts))
    parts = [*_ranks(facts), *_processes(facts), *_processor(facts), *code, *_cells(facts), *_devices(facts), *_owners(facts)]
    named = _named(facts, NAMED_FACTS)
    if (
        "path" in facts and "kernel_id" in facts and parts == _owners(facts)
    ):  # a path tells more than the number of a notebook's kernel
        parts = named
    elif not parts or parts == [_host(facts)]:
        parts += named
    if not code and parts and WORKERS & facts.keys():
        parts += _library_code(facts)
    parts = parts or _library_code(facts) or _named(facts, LAST_FACTS)
    exact = [p for p in parts if not any(other.startswith(f"{p}, ") for other in parts)]  # `cell 2` beside `cell 2, line 7`
    return ", ".join(dict.fromkeys([*exact, *_steps(facts)]))


def of_job(facts: Fields, proofs: Sequence[Proof], context: JobContext) -> dict[str, Value]:
    """The job that lines of the evidence name, and the node that its log names at the start, if none of its ranks is told."""
    if not {*OWNER_FACTS, *RANK_FACTS}.isdisjoint(facts):
        return {}
    job = next(filter(None, (job_of_step(p.text) for p in proofs)), "")
    node = next(filter(None, (context.node_of(p.source) for p in proofs)), "")
    told: dict[str, Value] = {"job": job} if job and "job" not in facts else {}
    return told | ({"node": node} if node and {*HOST_FACTS}.isdisjoint(facts) else {})


CRASHED_IN = "python_file"  # where Python was when native code crashed: no exception was raised there


def _named(facts: Fields, names: Mapping[str, str]) -> list[str]:
    """The first of `names` that tells a place."""
    known = (n for n in names if n in facts and not NO_PLACE_PATTERN.match(str(facts[n])))
    return [f"{names[n]} {_cut(fact_text(n, facts[n]))}".lstrip() for n in known][:1]


def _ranks(facts: Fields) -> list[str]:
    """The rank to look at. For a rank that only reports that it waited, the text says `reports it`."""
    reports = ""
    host = _host(facts)
    if "reporters" in facts:
        return [
            _cut(str(facts["reporters"]).replace(" reports", f" on {host.removeprefix('host ')} reports" if host else " reports"))
        ]
    if "culprit_rank" in facts:
        rank_text = f"rank {facts['culprit_rank']}"
    elif "culprit_ranks" in facts:
        rank_text = f"ranks {facts['culprit_ranks']}"
    elif "missing_ranks" in facts:
        return [_cut(str(fill_template("rank(s) {missing_ranks} did not arrive", facts)))]
    elif "rank" in facts:
        rank_text, reports = f"rank {facts['rank']}", " reports it" if "timeout_s" in facts else ""
    else:
        rank_text = f"local rank {facts['local_rank']}" if "local_rank" in facts else ""
    both = f"{rank_text} on {host.removeprefix('host ')}" if rank_text and host else rank_text or host
    return [_cut(both + reports)] if both else []


def _host(facts: Fields) -> str:
    host = next((str(facts[n]) for n in HOST_FACTS if n in facts and facts[n] not in LOCAL_HOST_NAMES), "")
    return f"host {host}" if host else ""


def _processes(facts: Fields) -> list[str]:
    facts = {n: v for n, v in facts.items() if not (n in ("task", "pid") and str(v) in NO_PROCESSES)}
    if "task" in facts and "pid" in facts:
        child = f"child {facts['child_no']}, counted from 0: " if "child_no" in facts and "rank" not in facts else ""
        told = f"{child}{_cut(fact_text('task', facts['task']))} (pid {facts['pid']})"
        return [told, *_own_command(facts)]
    if "task" in facts:
        return [_cut(fact_text("task", facts["task"]))]
    if "pid" in facts and _own_command(facts):
        return [f"{name} (pid {facts['pid']})" for name in _own_command(facts)]
    return [f"pid {facts['pid']}"] if "pid" in facts else [str(facts["own_program"])] if "own_program" in facts else []


def _own_command(facts: Fields) -> list[str]:
    """The script that a shell named as it died, where no line of it is told."""
    name = str(facts.get("command", ""))
    return [_cut(name)] if name and not any(f"/{name}:" in c for c in _code(facts)) else []


def _processor(facts: Fields) -> list[str]:
    """The processor on which the kernel stopped, and its function there, beside the task that was on it."""
    return [f"{name} {facts[fact]}" for fact, name in STOPPED_IN.items() if facts.get(fact, "") != ""] if "task" in facts else []


def _code(facts: Fields) -> list[str]:
    for file, line in CODE_FACTS:
        if file in facts and line in facts and not is_library_file(str(facts[file])):
            number = cell_number(str(facts[file])) or (facts.get("cell") if TEMPORARY_CELL in str(facts[file]) else None)
            own = (
                f"cell {number}, line "
                if number
                else "cell, line "
                if facts[file] == "Cell"
                else f"{_cut(fact_text(file, facts[file]))}:"
            )
            return [f"{own}{facts[line]}", *(() if file == CRASHED_IN else _raised(facts))]
    return []


def _raised(facts: Fields) -> list[str]:
    """The line of a library in which an exception was raised that the user's own line called."""
    return [f"raised in {_cut(str(facts['raised_in']))}"] if "raised_in" in facts else []


def _operation(facts: Fields) -> list[str]:
    return [f"operation {_cut(str(facts['tf_operation']))}"] if "tf_operation" in facts else []


def _library_code(facts: Fields) -> list[str]:
    """Where a library raised it, without the folders of its environment, where no line of the user's own program is known."""
    file, line = CODE_FACTS[0]
    name = without_library_folder(str(facts.get(file, "")))
    if not name or line not in facts or name.startswith("<"):
        return []
    told = f"{_cut(name)}:{facts[line]}"
    return [f"{told}, in a library", *(() if facts.get("raised_in") == f"{name}:{facts[line]}" else _raised(facts))]


def _cells(facts: Fields) -> list[str]:
    file = str(facts.get("file", ""))
    told = "cell" not in facts or TEMPORARY_CELL in file or cell_number(file) or EDITOR_CELL in file
    return [] if told else [f"cell {facts['cell']}"]


def _steps(facts: Fields) -> list[str]:
    if "growth_bytes" in facts:  # the last reading of memory that grew is no place
        return []
    if "epoch" in facts:
        return [f"epoch {facts['epoch']}" + (f", step {facts['step_no']}" if "step_no" in facts else "")]
    of_epoch = f" of epoch {facts['epoch_of_step']}" if "epoch_of_step" in facts else ""
    return [f"step {facts[name]}{of_epoch}" for name in STEP_FACTS if name in facts][:1]


def _devices(facts: Fields) -> list[str]:
    gpu = [f"GPU{'s' if ',' in str(facts['gpu']) else ''} {facts['gpu']}"] if "gpu" in facts else []
    if "pci_devices" in facts:
        named = [f"{facts[n]}" for n in ("interface", "device") if n in facts and str(facts[n]) not in str(facts["pci_devices"])]
        return [*gpu, *named[:1], str(facts["pci_devices"])]
    return gpu + ([f"PCI device {_cut(fact_text('pci', facts['pci']))}"] if "pci" in facts else [])


def _owners(facts: Fields) -> list[str]:
    if TOLD_POD in facts:
        return [str(facts[TOLD_POD])]
    if "job" in facts:
        job = _cut(fact_text("job", facts["job"]))
        return [job if job.startswith("job_") else f"job {job}"]
    if "notebook_file" in facts:
        return [f"notebook {_cut(str(facts['notebook_file']))}"]
    if "kernel_id" in facts:
        return [f"notebook kernel {_cut(fact_text('kernel_id', facts['kernel_id']))}"]
    if "kernel_name" in facts:
        return [f"notebook kernel {_cut(str(facts['kernel_name']))}"]
    owner = fact_text("owner", facts["owner"]) if "owner" in facts else ""
    slurm = SLURM_OWNER_PATTERN.fullmatch(owner) or SLURM_OWNER_PATTERN.match(owner)
    if slurm:
        return [f"job {slurm['job']}"]
    if owner:
        return [_cut(owner)]
    return [f"{name} {_cut(fact_text(name, facts[name]))}" for name in OWNER_FACTS if name in facts][:1]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_PLACE_CHARS else "…" + text[1 - MAX_PLACE_CHARS :]
