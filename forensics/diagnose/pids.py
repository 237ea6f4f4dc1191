"""Does a death concern a process that the job's log names by its pid?

dmesg: Killed process 10598 (python)     train.log: INFO train: pid 10578 trains for 240 steps     -> another process

A container counts its processes from 1: only numbers of one size can be told apart.
"""

from collections.abc import Sequence, Set

from forensics.model import Observation

KILLED = "process.worker_died"
CGROUP = "host_memory.oom_cgroup"
GUARD = "host_memory.oom_daemon"
WATCHDOG = "process.stalled/worker_watchdogs"  # names the worker that it kills
TABLE = "torchelastic"  # names the rank that failed first
STOPPED = "stopped.user/elastic_death_signal"  # tells that a launcher was told to stop
CLOSED = "distributed.peer_lost/launcher_closing"  # names each process that a launcher ends
WORKERS = "worker_pids"  # a field that lists the workers that are missed: `50117, 50118`
CRASHES = ("process.abort", "process.bus_error", "process.illegal_instruction", "process.segfault")
LEAST_PID = 1000
THREADS = 500


def of_another_process(event: Observation, own: Sequence[Observation]) -> bool:
    """Does the job's log tell by their pids which of its processes died, and that of `event` is none of them?

    Where ranks miss each other, one may crash of the death of another that its log does not name.
    """
    alone = not any(str(e.cause).startswith("distributed.") for e in own)
    told = [e for e in own if e.weight != "hint" and (e.cause in (KILLED, *CRASHES) or e.kind == WATCHDOG)]
    killed = {pid for e in told if alone or e.cause not in CRASHES for pid in (pid_of(e), *_workers(e))} | _alive(own)
    ranks, threads = _failed(own), _threads(event)
    causes, pid = {e.cause for e in told}, pid_of(event)
    alike = event.cause in causes or (event.cause not in CRASHES and KILLED in causes)  # of a program beside the ranks, perhaps
    others = _is_none_of(pid, killed - {0}, threads) or (not alike and _is_none_of(pid, ranks, 0))
    return others or (event.cause in CRASHES and not alike and _is_none_of(pid, _guarded(own), 0))


def _guarded(own: Sequence[Observation]) -> set[int]:
    """The workers that a guard of memory in the job's own log ended."""
    return {pid_of(e) for e in own if e.cause == GUARD and e.weight != "hint"} - {0}


def _workers(event: Observation) -> set[int]:
    """The workers that `event` misses by their pids."""
    return {int(pid) for pid in str(event.fields.get(WORKERS, "")).replace(",", " ").split() if len(pid) < 10}


def _alive(own: Sequence[Observation]) -> set[int]:
    """The processes that a launcher ends when it is told to stop, all of its own: none of them had died before."""
    return {pid_of(e) for e in own if e.kind == CLOSED} if any(e.kind == STOPPED for e in own) else set()


def _failed(own: Sequence[Observation]) -> set[int]:
    """The ranks that launchers of one host saw fail first, by an exception or a crash: none of theirs had died before.

    A rank whose number is not that on its host is one of several hosts, whose processes no table lists in full.
    """
    tables = [e for e in own if e.kind == TABLE]
    here = all(e.fields.get("rank") == e.fields.get("local_rank") for e in tables)
    of_one = here and len({e.fields.get("host") for e in tables}) == 1
    failed = all(isinstance(code := e.fields.get("exit_code"), int) and (code > 0 or e.cause in CRASHES) for e in tables)
    return {pid_of(e) for e in tables} if of_one and failed else set()


def is_strange(event: Observation, pids: Set[int]) -> bool:
    """Is the process of `event` none of `pids`, by which the job's logs call their programs?

    Where the kernel's report is cut off before its victim: the one that asked a cgroup for more memory, which is in that cgroup.
    """
    return _is_none_of(pid_of(event) or (pid_of(event, "invoker_pid") if event.cause == CGROUP else 0), pids, _threads(event))


def _is_none_of(victim: int, pids: Set[int], threads: int) -> bool:
    """Is `victim` known to be none of `pids`, of which there are some, nor one of the `threads` numbers behind each?"""
    others = (victim / 2 < pid < victim * 2 and not pid <= victim <= pid + threads for pid in pids)
    return victim >= LEAST_PID and bool(pids) and all(others)


def _threads(event: Observation) -> int:
    """How much later the number that `event` tells may be than its process's: of a crash the kernel tells the thread's."""
    return THREADS if event.cause in CRASHES else 0


def pid_of(event: Observation, name: str = "pid") -> int:
    """The pid that `event` tells as `name`; 0 for none, or one that is no number."""
    told = event.fields.get(name, 0)
    return int(told) if isinstance(told, int) or (isinstance(told, str) and told.isdecimal() and len(told) < 10) else 0
