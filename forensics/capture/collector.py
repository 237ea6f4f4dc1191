"""The thread that watches a job while it runs, and completes the bundle when the job has ended.

A part that fails is left out and noted: no fault in this module may affect the job.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time

from forensics.capture import identity, rank_dumps, stacks
from forensics.capture.bundle import Bundle
from forensics.capture.cgroups import Groups
from forensics.capture.growth import Growth, IdleRanks, Silence
from forensics.capture.kernel import KernelLog
from forensics.capture.reaping import WaitingThread, reap_orphans
from forensics.capture.samples import MAX_WARNED_S, MemorySamples
from forensics.capture.senders import ProcessEvents, SignalTrace
from forensics.capture.times import duration_text, time_text
from forensics.capture.tree import ProcessTree, decode_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from forensics.capture.growth import EarlyWarnings, IdleRanks
    from forensics.capture.joblog import JobLog
    from forensics.capture.options import Options

LOOK_ENDS_S = 2.0  # chosen by hand: only a file system that does not answer keeps a look for longer, and nobody waits for that
PROCESS_SCAN_INTERVAL_S = 1.0  # between two searches for new processes
# The waits before the first searches: a launcher starts its workers within its first second.
FIRST_SCAN_WAITS_S = (0.02, 0.05, 0.1, 0.2, 0.4)


class KernelReports:
    """What the kernel tells of kills and of ends of processes. It is opened before a job begins, so none of them is missed."""

    def __init__(self, options: Options) -> None:
        self.log, self.ends = KernelLog(options.kernel_log), ProcessEvents()


class Collector:
    """Watches the processes below `root`. `adopts`: orphans become children of this process. `say`: shows a line to the user.

    `unavailable`: what could not be recorded, each with the reason and a command that gives it.
    """

    def __init__(
        self,
        options: Options,
        bundle: Bundle,
        root: int,
        adopts: bool,
        log: JobLog | None,
        say: Callable[[str], None],
        growth: Growth | None = None,
        reports: KernelReports | None = None,
    ) -> None:
        self.options, self.bundle, self.root, self.log, self.say = options, bundle, root, log, say
        self.started = time.time()
        self.warnings: EarlyWarnings | None = None  # on the job's losses
        self.unavailable: list[dict[str, str]] = []
        self.faults: list[str] = []
        self.stacks: list[dict[str, str]] = []
        self.signals: list[dict[str, Any]] = []  # those that this process received itself
        self.refused = ""  # why the command could not be started
        self.places = list(dict.fromkeys(["/dev/shm", "/tmp", _folder(), *identity.mounts_with_room()]))
        self.least_free: dict[str, tuple[int, int]] = {}
        if not options.time_limit_s:
            options.time_limit_s = identity.time_limit(os.environ)
        self.silence = Silence(options, log, growth or Growth())
        self.idle = IdleRanks(options.stall_s)
        self.lock = threading.Lock()
        self.samples = MemorySamples(options.every_s)
        reports = reports or KernelReports(options)
        self.kernel, self.connector = reports.log, reports.ends
        self.groups, self.senders = Groups(), SignalTrace()
        self.tree = ProcessTree([root], adopts)
        self.limits = identity.limits(root)
        self.gpus: list[dict[str, Any]] = []
        self._call_or_note(self._record_environment)
        self._stop, self._warned = threading.Event(), False
        self._wake = os.pipe()
        self._thread, self._worker = WaitingThread(), None  # type: WaitingThread, threading.Thread | None
        self._looks = 0

    def _record_environment(self) -> None:
        for process in self.tree.living.values():
            process.group = self.groups.follow(process.pid, self.started)
        self.gpus, why = identity.gpus()
        for what, why_not, command in (
            ("the kernel's log", self.kernel.unavailable, "sudo dmesg --time-format iso"),
            ("who sent a signal", self.senders.unavailable, ""),
            ("processes that live for less than a second", self.connector.unavailable, ""),
            ("GPUs", why, "nvidia-smi"),
        ):
            if why_not:
                self.unavailable.append({"what": what, "why": why_not, "command": command})

    def start(self, thread: WaitingThread | None = None) -> None:
        """Begin to watch, in `thread` if one waits already."""
        self._thread = thread or self._thread
        self.bundle.write_run(self.run_record(False))
        self._thread.do(self._run)

    def _call_or_note(self, work: Callable[[], object]) -> None:
        try:
            with self.lock:
                work()
        except Exception as error:
            self._note(getattr(work, "__name__", "a part"), error)

    def _note(self, what: str, error: Exception) -> None:
        note = f"{what}: {type(error).__name__}: {error}"[:300]
        if note not in self.faults and len(self.faults) < 20:
            self.faults.append(note)

    def _run(self) -> None:
        watch = [fd for fd in (self.tree.fileno(), self._wake[0]) if fd >= 0]
        next_scan = 0.0
        self._worker = threading.current_thread()
        while not self._stop.is_set():
            wait = FIRST_SCAN_WAITS_S[self._looks] if self._looks < len(FIRST_SCAN_WAITS_S) else PROCESS_SCAN_INTERVAL_S
            try:
                ready = select.select(watch, [], [], wait)[0]
            except OSError:
                ready = []
            if ready and not self._stop.is_set():
                self._call_or_note(self.deaths)
            now = time.monotonic()
            if now < next_scan and self._looks >= len(FIRST_SCAN_WAITS_S):
                continue
            self._looks += 1
            next_scan = now + (0 if self._looks < len(FIRST_SCAN_WAITS_S) else PROCESS_SCAN_INTERVAL_S * 0.9)
            self._call_or_note(self._look)
            if self.samples.due(now):
                self._call_or_note(self._sample)
            self._watch_silence()
            for line in self.warnings.said() if self.warnings else ():
                self.say(line)

    def deaths(self, helpers: Collection[int] = ()) -> None:
        """Record the processes that ended, and the counters of the groups at that moment. `helpers`: that run now."""
        # Safe: only the thread that starts the helpers reaps, until it is over, so no helper is taken.
        if self.tree.adopts and self._worker and (self._worker is threading.current_thread() or not self._worker.is_alive()):
            reap_orphans(self.root, self.tree.name, self._orphan, helpers)
        for pid, parent, status in self.connector.read():
            self.tree.connector(pid, parent, status)
        ends = self.tree.ended_now()
        if any(e.get("signal") for e in ends) or self.tree.ended_now():
            self._after_signal()

    def refresh(self) -> None:
        """Record what happened until now."""
        for work in (self.deaths, self._after_signal):
            self._call_or_note(work)

    def _look(self) -> None:
        for process in self.tree.look():
            process.group = self.groups.follow(process.pid, self.started)
        self.kernel.read()
        self.senders.read()
        self.deaths()

    def _measure_places(self) -> None:
        """Measure the file systems that jobs fill."""
        for path, found in identity.disks(self.places).items():
            now = found["free_bytes"], found["size_bytes"]
            self.least_free[path] = min(self.least_free.get(path, now), now)

    def _sample(self) -> None:
        self._measure_places()
        self.samples.take(self.tree, self.groups, self.started)
        left = self.samples.runs_out_in()
        if self.options.warn and left is not None and left < MAX_WARNED_S and not self._warned:
            self._warned = True
            self.say(f"memory will run out in about {duration_text(left)} at the present rate")

    def _own_pids(self) -> list[int]:
        return [pid for pid, process in self.tree.living.items() if not process.is_watcher]

    def _rank_pids(self) -> list[int]:
        """The processes that a launcher started as ranks, without those that they started themselves."""
        named = {pid for pid, process in self.tree.living.items() if process.ranks and not process.is_watcher}
        return [pid for pid in named if self.tree.living[pid].ppid not in named]

    def _watch_silence(self) -> None:
        """Take the stacks if the output is silent for a long time, if most ranks wait for so long, or a time limit is near."""
        try:
            silent_s = self.silence.look(self._own_pids(), _folder())
            is_due = self.silence.stacks_due(silent_s, self.say) if silent_s else self.idle.stacks_due(self._rank_pids())
            if self.silence.near_limit() or is_due:
                self.take_stacks(self.silence.spell[0] if silent_s and self.silence.spell else 0.0)
        except Exception as error:  # a fault ends this look and not the thread, which reaps orphans
            self._note("silence", error)

    def take_stacks(self, silent_since: float = 0.0) -> None:
        """Write the stacks of the job's Python processes into the bundle, and ask its ranks for dumps of what they called."""
        rank_dumps.ask_for_dumps(self.bundle.folder)
        own = [p for p in self.tree.living.values() if not p.is_watcher]
        folder, children = self.bundle.path("stacks"), self.tree.child_numbers()
        taken, why = stacks.take_stacks(own, folder, children, silent_since, self._goes_on_beside)
        moment = time_text(time.time())
        self.stacks = [{**t, "time": moment} for t in taken] or self.stacks
        if why and not self._stop.is_set() and not any(c["what"] == "stacks" for c in self.unavailable):
            self.unavailable.append({"what": "stacks", "why": why, "command": "pip install py-spy"})

    def _goes_on_beside(self, helpers: Collection[int]) -> bool:
        """Record what happens to the job while `helpers` look at it. Does it go on?"""
        self._call_or_note(lambda: self.deaths(helpers))
        return not self._stop.is_set()

    def _orphan(self, pid: int, status: int, cpu_s: float) -> None:
        self.tree.reaped(pid, status, cpu_s)
        if os.WIFSIGNALED(status):
            self._after_signal()

    def ending(self, pid: int) -> None:
        """Note that a child of this process has ended and was not reaped yet."""
        self._call_or_note(lambda: self.tree.name(pid))

    def reaped(self, pid: int, status: int, cpu_s: float) -> None:
        """Note that a child of this process ended. `cpu_s`: the processor time that it and its children had used."""
        self._call_or_note(lambda: self.tree.reaped(pid, status, cpu_s))
        if os.WIFSIGNALED(status):
            self._call_or_note(self._after_signal)

    def _after_signal(self) -> None:
        self._measure_places()
        self.groups.update()
        self.kernel.read()
        self.senders.read()

    def stop(self) -> None:
        """Stop watching; take the last records."""
        self._stop.set()
        os.write(self._wake[1], b"x")
        self._thread.join(LOOK_ENDS_S)
        for work in (self._look, self._final, self._last_silence):
            self._call_or_note(work)

    def _last_silence(self) -> None:
        self.silence.look(self._own_pids(), _folder(), last=True)

    def _final(self) -> None:
        self.groups.update()
        for group in self.groups.seen.values():
            group.most_bytes = max(group.most_bytes, int(group.after.get("peak_bytes", 0)))
        self.samples.take(self.tree, self.groups, self.started)
        self.senders.read()
        self.senders.close()
        self.connector.close()

    def run_record(self, complete: bool, status: int | None = None) -> dict[str, Any]:
        """run.json, as far as it is known."""
        end = self.root_end(status)
        log = self.log
        return {
            "schema": "forensics-run/1",
            "complete": complete,
            "command": {"arguments": self.options.command, "folder": _folder(), "pid": self.root, "name": self.options.name},
            "start": time_text(self.started),
            "end": time_text(end["end"]) if end else None,
            "status": {k: end[k] for k in ("exit_code", "signal", "core", "how") if k in end} if end else None,
            "host": identity.host(),
            "clock": identity.clock(),
            "identity": identity.identity(os.environ),
            "limits": self.limits,
            "groups": self.groups.as_record(),
            "memory": self.samples.as_record(),
            "signals": [{**s, "time": time_text(s["time"])} for s in self.relevant_signals()],
            "output": {
                "bytes": log.bytes if log else 0,
                "last": time_text(time.time() - (time.monotonic() - log.last)) if log else None,
                "longest_silence_s": round(log.longest_silence_s, 3) if log else None,
                "fault": log.fault if log else "",
            },
            "stacks": self.stacks,
            "gpus": self.gpus,
            "disks": identity.disks(self.places),
            "core_dumps": identity.core_dumps(),
            "exits": {"count": len(self.tree.ends), "left_out": self.tree.left_out, "ways": sorted(self.tree.ways)},
            "closed": self.unavailable,
            "faults": self.faults,
            "tool": {"name": "forensics", "python": sys.version.split()[0], "pid": os.getpid()},
        }

    def root_end(self, status: int | None = None) -> dict[str, Any] | None:
        """How the job's first process ended; None while it is alive."""
        found = next((e for e in reversed(self.tree.ends) if e["pid"] == self.root), None)
        if found is None and status is not None:
            return {"pid": self.root, "end": time.time(), "how": "child", **decode_status(status)}
        return found

    def relevant_signals(self) -> list[dict[str, Any]]:
        """The signals that were sent to the job's processes, or that this process received for the job."""
        own = {e["pid"] for e in self.tree.ends} | set(self.tree.living) | {self.root}
        return [*self.signals, *(s for s in self.senders.sent if s["to"] in own)]


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
