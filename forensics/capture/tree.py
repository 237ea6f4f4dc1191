"""The processes of a job: each is found and followed by a pidfd, and its end is recorded with status, time and source.

New processes are found by comparing two listings of /proc, so the cost depends on the changes only. An orphan becomes a child of
this process (a subreaper), so none is lost. How an end becomes known, the best source first:

    pidfd      the kernel's own record (Linux 6.15 and later, no rights needed)
    child      wait() for a child of this process
    zombie     /proc/PID/stat before its parent reaped it
    connector  the kernel's process events (root)
    vanished   it is gone, and its status is unknown
"""

from __future__ import annotations

import contextlib
import os
import select
import time

from forensics.capture import proc
from forensics.capture.live_stacks import marks_of, numbers_of, ranks_of
from forensics.capture.proc import child_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PIDFDS = 4000  # bounds open files: processes that are followed by a pidfd
MAX_SAME_END_S = 10.0  # chosen by hand: two reports of one pid's end within this time are one end
MAX_KEPT_ENDS = 5000  # bounds memory: the first half and the last
MAX_MARKED = 256  # bounds memory: processes that ended and may have been ranks
WATCHERS = (" -m forensics.capture ", " -m forensics why ")  # in the command of a process that forensics started beside the job
RANK_NAMES = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "TORCHELASTIC_RUN_ID")


class Process:
    """A process of the job while it is alive."""

    __slots__ = ("comm", "command", "cpu_limit_s", "cpu_s", "group", "marks", "most_bytes", "pid", "pidfd", "ppid", "ranks",
                 "rss_bytes", "seen", "started", "ticks", "zombie")  # fmt: skip

    def __init__(self, found: proc.Stat, seen: float) -> None:
        self.pid, self.ppid, self.comm, self.ticks = found.pid, found.ppid, found.comm, found.start_ticks
        self.seen = seen
        self.started = seen - proc.age_s(found)
        self.rss_bytes = self.most_bytes = found.rss_bytes
        self.cpu_s = found.cpu_s
        self.group, self.command, self.ranks = "", "", {}  # type: str, str, dict[str, str]
        self.marks: tuple[str, ...] = ()  # what may tell its rank
        self.pidfd = proc.open_pidfd(found.pid)
        self.zombie: int | None = None
        self.describe()

    def describe(self) -> None:
        """Read the command of a program that was just started."""
        self.cpu_limit_s = proc.cpu_limit_s(self.pid)
        self.command = proc.command_line(self.pid) or self.command
        self.ranks = proc.environment(self.pid, RANK_NAMES) or self.ranks
        self.marks = tuple(marks_of(self.pid)) if "python" in self.command else ()

    @property
    def is_watcher(self) -> bool:
        """Does it only watch a process of the job or report its end, for guard() or a `forensics run` inside of this one?"""
        return any(words in self.command for words in WATCHERS)

    def ended(self, status: int) -> None:
        """Note its wait status while nobody has reaped it, and the limit of processor time that it may have set itself."""
        self.zombie, self.seen = status, time.time()
        found = proc.stat(self.pid) if os.WIFSIGNALED(status) else None
        if found is not None and found.start_ticks == self.ticks:
            self.cpu_s, self.cpu_limit_s = found.cpu_s, proc.cpu_limit_s(self.pid) or self.cpu_limit_s

    def sample(self) -> None:
        """Read its memory; if it has executed another program, read its command again."""
        found = proc.stat(self.pid)
        if found is None or found.start_ticks != self.ticks or found.state == "Z":
            return
        self.rss_bytes, self.cpu_s, self.ppid = found.rss_bytes, found.cpu_s, found.ppid
        self.most_bytes = max(self.most_bytes, found.rss_bytes)
        if found.comm != self.comm:
            self.comm = found.comm
            self.describe()


class ProcessTree:
    """All processes below `roots`, and those that ended. `adopts`: orphans become children of this process."""

    def __init__(self, roots: list[int], adopts: bool) -> None:
        self.roots = set(roots)
        self.living: dict[int, Process] = {}
        self.ends: list[dict[str, Any]] = []
        self.left_out = 0
        self.foreign: set[int] = set()
        self.adopts = adopts
        self.ways: set[str] = set()
        self._ended: dict[int, float] = {}
        self._held = 0
        self._marked: dict[int, tuple[int, list[str]]] = {}  # parent and marks of processes that ended
        self._order: dict[int, int] = {}  # the newest of a pid; clocks do not tell apart what starts within 10 ms
        self._poll = select.epoll() if hasattr(select, "epoll") else None
        self.look()

    def look(self) -> list[Process]:
        """Find and return new processes."""
        now, me = time.time(), os.getpid()
        listed = set(proc.pids())
        self.foreign &= listed
        fresh = []
        for pid in sorted(listed - self.foreign - self.living.keys()):
            found = proc.stat(pid)
            if found is None:
                continue
            if pid in self.roots or found.ppid in self.living or (self.adopts and found.ppid == me and pid != me):
                fresh.append(self._hold(found, now))
            else:
                self.foreign.add(pid)
        for pid in [p for p in self.living if p not in listed]:
            self._gone(self.living[pid], now)
        return fresh

    def forget(self, pid: int) -> None:
        """Ignore `pid`: it is a helper process of this program."""
        self.foreign.add(pid)

    def _hold(self, found: proc.Stat, now: float) -> Process:
        made = Process(found, now)
        self._held += 1
        self._order[found.pid] = self._held
        if len(self.living) > MAX_PIDFDS and made.pidfd >= 0:
            os.close(made.pidfd)
            made.pidfd = -1
        self.living[found.pid] = made
        if self._poll and made.pidfd >= 0:
            with contextlib.suppress(OSError):
                self._poll.register(made.pidfd, select.EPOLLIN | select.EPOLLET)
        return made

    def child_numbers(self) -> dict[int, tuple[int, int]]:
        """By pid: the number of each process that multiprocessing started among its siblings, or by which processes of one
        program differ, and their parent."""
        ended = [(e["pid"], e["ppid"], e["command"]) for e in self.ends if "start" in e]
        every = [*ended, *((p.pid, p.ppid, p.command) for p in self.living.values())]
        by_start = child_numbers(sorted(every, key=lambda row: self._order.get(row[0], 0)))
        parents = {pid: parent for pid, parent, _ in every}
        return by_start | {pid: (number, parents[pid]) for pid, number in numbers_of(self._marks()).items()}

    def ranks(self) -> dict[int, str]:
        """The ranks of processes by pid, of those that ended, too."""
        return ranks_of(self._marks())

    def _marks(self) -> list[tuple[int, int, list[str]]]:
        living = {p.pid: (p.ppid, list(p.marks)) for p in self.living.values()}
        return [(pid, parent, marks) for pid, (parent, marks) in (self._marked | living).items()]

    def fileno(self) -> int:
        """The fd that becomes readable when a process ends; -1 if the system has none."""
        return self._poll.fileno() if self._poll else -1

    def ended_now(self) -> list[dict[str, Any]]:
        """The ends that became known since the last call."""
        before = len(self.ends)
        if self._poll:
            held = {p.pidfd: p for p in self.living.values()}
            for fd, _ in self._poll.poll(0):
                if fd in held:
                    self._ask(held[fd])
        else:
            self.look()
        return self.ends[before:]

    def _ask(self, process: Process) -> None:
        """Record the status of a process that ended, if it is known already; that of a zombie is noted until it is reaped."""
        now = time.time()
        status = proc.exit_status(process.pidfd)
        if status is not None:
            self._end(process, status, "pidfd", now)
            return
        found = proc.stat(process.pid)
        if found is not None and found.start_ticks == process.ticks and found.state in "ZX":
            if process.zombie is None:
                process.ended(found.exit_status)
        elif found is None or found.start_ticks != process.ticks:
            self._gone(process, now)

    def name(self, pid: int) -> None:
        """Read the command of `pid` at its end: a shell may have executed another program since it was found."""
        process, found = self.living.get(pid), proc.stat(pid)
        if process is not None and found is not None and found.start_ticks == process.ticks:
            process.comm = found.comm

    def reaped(self, pid: int, status: int, cpu_s: float) -> None:
        """Record that the child `pid` of this process ended with `status` after `cpu_s` of processor time."""
        process = self.living.get(pid)
        if process is not None:
            process.cpu_s = max(process.cpu_s, cpu_s)
        if process is None:
            known = next((e for e in reversed(self.ends) if e["pid"] == pid and time.time() - e["end"] < MAX_SAME_END_S), None)
            if known is not None:  # it was seen to be gone before its status was known
                known |= {"how": "child", **decode_status(status)}
                known |= {"cpu_s": max(known["cpu_s"], cpu_s)} if "cpu_s" in known else {}
                return
            self._keep({"pid": pid, "how": "child", "end": time.time(), **decode_status(status)})
        else:
            self._end(process, status, "child", time.time())

    def connector(self, pid: int, parent: int, status: int) -> None:
        """Record an end that the kernel's process events reported."""
        process = self.living.get(pid)
        if process is not None:
            if process.zombie is None:
                process.ended(status)
                self.ways.add("connector")
        elif (known := self._vanished(pid)) is not None:
            known |= {"how": "connector", **decode_status(status)}
            self.ways.add("connector")
        elif self._is_own(parent) and pid not in self.foreign and not self._ended_lately(pid):
            self._keep({"pid": pid, "ppid": parent, "how": "connector", "end": time.time(), **decode_status(status)})

    def _is_own(self, pid: int) -> bool:
        """Is it a process of the job, alive or dead for a moment? A parent may be reaped before the end of its child is read."""
        return pid in self.living or self._ended_lately(pid)

    def _ended_lately(self, pid: int) -> bool:
        return time.time() - self._ended.get(pid, 0) <= MAX_SAME_END_S

    def _vanished(self, pid: int) -> dict[str, Any] | None:
        """The end of `pid`, if it was alive a moment ago and its status is unknown."""
        recent = (e for e in reversed(self.ends) if e["pid"] == pid and time.time() - e["end"] < MAX_SAME_END_S)
        return next((e for e in recent if e["how"] == "vanished"), None)

    def _gone(self, process: Process, now: float) -> None:
        status = proc.exit_status(process.pidfd) if process.pidfd >= 0 else None
        if status is not None:
            self._end(process, status, "pidfd", now)
        elif process.zombie is not None:
            self._end(process, process.zombie, "zombie", process.seen)
        else:
            self._end(process, None, "vanished", now)

    def _end(self, process: Process, status: int | None, how: str, now: float) -> None:
        self.living.pop(process.pid, None)
        if process.pidfd >= 0:
            with contextlib.suppress(OSError):
                os.close(process.pidfd)
        found: dict[str, Any] = {"pid": process.pid, "ppid": process.ppid, "comm": process.comm, "command": process.command}
        found |= {"start": process.started, "end": process.seen if process.zombie is not None else now}
        found |= {"most_bytes": process.most_bytes, "last_bytes": process.rss_bytes, "group": process.group, "how": how}
        found |= {"ranks": process.ranks} if process.ranks else {}
        if process.marks and len(self._marked) < MAX_MARKED:
            self._marked[process.pid] = process.ppid, list(process.marks)
        found |= {"cpu_limit_s": process.cpu_limit_s, "cpu_s": process.cpu_s} if process.cpu_limit_s else {}
        self._keep(found | (decode_status(status) if status is not None else {}))

    def _keep(self, end: dict[str, Any]) -> None:
        self.ways.add(end["how"])
        self._ended[end["pid"]] = end["end"]
        self.ends.append(end)
        if len(self.ends) > MAX_KEPT_ENDS:
            ordinary = next(
                (i for i, e in enumerate(self.ends) if not e.get("signal") and not e.get("exit_code")), MAX_KEPT_ENDS // 2
            )
            self._order.pop(self.ends.pop(ordinary)["pid"], None)
            self.left_out += 1

    def close(self) -> None:
        """Close the pidfds of all processes."""
        for process in self.living.values():
            if process.pidfd >= 0:
                with contextlib.suppress(OSError):
                    os.close(process.pidfd)
        if self._poll:
            self._poll.close()


def decode_status(status: int) -> dict[str, Any]:
    """A wait status as a record: exit code, or signal and whether a core file was written."""
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status), "core": os.WCOREDUMP(status)}
    return {"exit_code": os.WEXITSTATUS(status)}
