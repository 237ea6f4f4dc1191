"""The end of a helper process for which a rank waits without end: nobody tells the rank, and the kernel's log names only the pid.

rank 2 (pid 26591) waits in Pool.map; the kernel killed python3 (pid 26600), which is no rank and was started after it
    -> most likely one of the helpers that rank 2 started
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from forensics.database import Database
from forensics.model import Observation
from forensics.model.dumps import Frame
from forensics.model.stacks import ProcessStacks

ENDS_PROCESS = "process_death"  # trait of causes that tell how a process ended
NAME_FIELDS = ("task", "comm", "process")  # of such an event: the name of the process
MAX_PIDS_LATER = 500  # chosen by hand: a rank starts its helpers soon
WAITS_IN = (  # files of Python in which a program waits for what another process of its own does
    "multiprocessing/pool.py",
    "multiprocessing/queues.py",
    "multiprocessing/connection.py",
    "multiprocessing/popen_fork.py",
    "utils/data/dataloader.py",
    "subprocess.py",
)


def waits_for_helper(frames: Sequence[Frame], own: Frame | None) -> bool:
    """Does a thread wait for another process, inside of the line `own` of the program?"""
    at = next((n for n, f in enumerate(frames) if f is own), 0)
    return any(f.file.endswith(WAITS_IN) for f in frames[:at])


def ends_of_others(events: Iterable[Observation], pids: Collection[int | None], knowledge: Database) -> dict[int, Observation]:
    """By pid: what tells the end of a process that is none of `pids`."""
    found: dict[int, Observation] = {}
    for event in events:
        pid = str(event.fields.get("pid", ""))
        is_end = event.weight != "hint" and event.proofs and knowledge.has_trait(event.cause, ENDS_PROCESS)
        if is_end and pid.isdecimal() and int(pid) not in pids:
            found.setdefault(int(pid), event)
    return found


def helper_of(rank: ProcessStacks, ends: Mapping[int, Observation]) -> Observation | None:
    """The end of the one process that may be a helper of the rank: it was started soon after it, and has its program's name."""
    name, pid = rank.command.split(" ", 1)[0].rpartition("/")[2], rank.pid or 0
    later = [event for other, event in ends.items() if 0 < other - pid < MAX_PIDS_LATER and pid and _name(event) == name != ""]
    return later[0] if len(later) == 1 else None


def _name(event: Observation) -> str:
    return next((str(event.fields[field]) for field in NAME_FIELDS if field in event.fields), "")
