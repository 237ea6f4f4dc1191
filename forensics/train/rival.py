"""A rival without any knowledge: the last line that looks like an error, read by tables of exceptions and codes alone.

It is measured beside the decision on every corpus, so that a reader sees what the knowledge is worth.
"""

from collections.abc import Mapping, Sequence

from forensics import lazy
from forensics.model.verdicts import Lane
from forensics.train.cases import Case
from forensics.train.measure import Answer

LOOKS_LIKE_AN_ERROR = lazy.regex(
    r"(?i)\b(?:error|exception|fatal|panic|killed|segmentation fault|abort(?:ed)?|traceback|failed)\b|Error\b|Exception\b"
)
NEAR_THE_END = 200  # lines: an error further away ended nothing, as far as such a reader can tell
TABLE: Mapping[str, str] = {
    r"ModuleNotFoundError|ImportError|undefined symbol|GLIBC": "code.import",
    r"CUDA out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|ResourceExhausted": "gpu_memory.capacity",
    r"MemoryError|bad_alloc|Cannot allocate memory": "host_memory.alloc_refused",
    r"oom-kill:constraint=CONSTRAINT_MEMCG|Memory cgroup out of memory|OOMKilled": "host_memory.oom_cgroup",
    r"Out of memory: Kill": "host_memory.oom_global",
    r"No space left on device|Disk quota": "storage.full",
    r"FileNotFoundError|No such file or directory": "data.missing",
    r"HTTPError|URLError|ConnectionError|LocalEntryNotFound": "data.download",
    r"shape|size mismatch|dimension": "code.shape",
    r"dtype|same device|expected scalar": "code.dtype_device",
    r"IndexError|index out of": "code.index",
    r"KeyboardInterrupt": "stopped.user",
    r"DUE TO TIME LIMIT|TERM_RUNLIMIT|walltime": "stopped.time_limit",
    r"Segmentation fault|SIGSEGV": "process.segfault",
    r"Aborted|SIGABRT": "process.abort",
    r"Killed|SIGKILL|exit code 137": "process.worker_died",
    r"Kernel panic|Oops|BUG:": "host_os.panic",
    r"soft lockup|hung_task|blocked for more than|rcu.*stall": "host_os.lockup",
    r"I/O error|EXT4-fs error|Medium Error": "storage.io_error",
    r"unrecognized arguments|argument |ArgumentError|config": "code.config",
}


def by_rival(case: Case, lines: Sequence[str]) -> Answer:
    """What the rival says of `lines`, the whole of the case's logs in order."""
    import re

    last = next((t for t in reversed(lines[-NEAR_THE_END:]) if LOOKS_LIKE_AN_ERROR.search(t)), None)
    if last is None:
        return Answer(case, (("none.healthy", 1.0),), "no_crash")
    cause = next((c for pattern, c in TABLE.items() if re.search(pattern, last)), "code.exception")
    return Answer(case, ((cause, 1.0),), "crash", (last,))


def lines_of(lanes: Sequence[Lane]) -> list[str]:
    """The lines that a rival may look at: the last lines of trouble of each lane, in order, where they stand near its end."""
    near = (line for lane in lanes for line in lane.trouble_lines if line.number > lane.attempts[-1].last_line - NEAR_THE_END)
    return [line.text for line in near]
