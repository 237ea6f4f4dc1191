"""Find when the job wrote last, where its output does not pass through this program: files of its own, and redirected streams.

    forensics run -- python train.py > train.log 2>&1     the size and the time of train.log, looked at each second
    forensics run -- python train.py                      with logs/metrics.csv below its folder, looked at in a long silence

Nothing is asked of the job, and nothing of the files but their status.

Start the process that reads a job's losses while it runs, and take what it says. Nothing of the analyser is loaded here.

It is no child of the process that watches: a shell starts it in the background and ends, so that whoever reaps the job's orphans
never takes it for one. It ends when nobody reads its pipe any more.

Tell how long the job is silent, counted from the last growth of anything that it writes, and when stacks are due.

output at 3.0 s, then none; --stall 5s     -> stacks at 8.0 s, again at 13.0 s, 23.0 s ...

A rank that prints while all others wait for it keeps a job from being silent: there, it counts that most ranks use no processor
time.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
import time
from itertools import islice

from forensics.capture import proc
from forensics.capture.bundle import RUN_FILE
from forensics.capture.times import duration_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from forensics.capture.joblog import JobLog
    from forensics.capture.options import Options


MAX_LISTED_FILES = 4000  # bounds the time on a slow disk; a data set of single files is not read to its end
MAX_LISTED_DEPTH = 4  # lightning_logs/version_0/metrics.csv, runs/NAME/events.out.tfevents
MAX_CHECKED_FILES = 20  # chosen by hand: of the newest files, each is searched in the open files of other programs
State = tuple[int, int]  # size and time of the last change in nanoseconds


class Growth:
    """Watches `followed`, paths or descriptors of files that take the job's output. `left_out`: a folder that does not count."""

    def __init__(self, followed: Iterable[int | str] = (), left_out: str = "") -> None:
        self._followed = {target: _state(target) for target in followed}
        self._own: dict[str, State] = {}
        self._left_out = os.path.abspath(left_out) if left_out else ""

    def look(self) -> float | None:
        """When one of the followed files changed last, in seconds since 1970; None if none did since the last look."""
        newest: float | None = None
        for target, before in self._followed.items():
            now = _state(target)
            if now is not None and now != before:
                self._followed[target] = now
                newest = max(newest or 0.0, _moment(now))
        return newest

    def own_files(self, pids: Iterable[int], folder: str, after: float) -> float | None:
        """When the job changed one of its own files last, if that is later than `after`, in seconds since 1970; else None.

        Its own files are those that its processes `pids` have open for writing, and those below `folder` that no other program
        has open: a program may open its log anew for each line.
        """
        job = set(pids)
        mine = dict(_open_for_writing(job))
        others = {path: found for path, found in _listed(folder, self._left_out) if path not in mine}
        newest = max((_moment(found) for path, found in mine.items() if self._changed(path, found, after)), default=None)
        recent = [path for path in others if self._changed(path, others[path], max(after, newest or 0.0))]
        recent.sort(key=lambda path: others[path][1], reverse=True)
        if recent:
            foreign = {path for path, _ in _open_for_writing(set(proc.pids()) - job)}
            newest = next((_moment(others[path]) for path in recent[:MAX_CHECKED_FILES] if path not in foreign), newest)
        self._own = mine | others
        return newest

    def _changed(self, path: str, found: State, after: float) -> bool:
        """Did it change since the last look? At the first one, and with a clock of the file's own, its time must do."""
        return found[1] / 1e9 > after and found != self._own.get(path)


def _state(target: int | str) -> State | None:
    try:
        found = os.stat(target)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _moment(state: State) -> float:
    """The time of a change; a server of files may have another clock, but nothing changes in the future."""
    return min(state[1] / 1e9, time.time())


def _open_for_writing(pids: Iterable[int]) -> Iterator[tuple[str, State]]:
    """The regular files that processes have open for writing."""
    for pid in pids:
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    link = f"/proc/{pid}/fd/{fd}"
                    found = os.stat(link)
                    if stat.S_ISREG(found.st_mode) and os.lstat(link).st_mode & stat.S_IWUSR:
                        yield os.readlink(link), (found.st_size, found.st_mtime_ns)


def _listed(folder: str, left_out: str) -> Iterator[tuple[str, State]]:
    """The regular files below a folder, without those in `left_out`, in hidden folders and in bundles of guard(); at most
    MAX_LISTED_FILES."""
    waiting, count = [(folder, 0)] if folder else [], 0
    while waiting and count < MAX_LISTED_FILES:
        here, depth = waiting.pop(0)
        with contextlib.suppress(OSError), os.scandir(here) as found:
            entries = list(islice(found, MAX_LISTED_FILES - count))
            count += len(entries)
            if any(entry.name == RUN_FILE for entry in entries):
                continue  # what watches one rank writes there, and not the job
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        state = entry.stat(follow_symlinks=False)
                        yield entry.path, (state.st_size, state.st_mtime_ns)
                    elif depth < MAX_LISTED_DEPTH and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        waiting += [(entry.path, depth + 1)] if entry.path != left_out else []


IN_BACKGROUND = '"$@" &'  # for a shell: its arguments as a command
MAX_SAID_BYTES = 4096  # at one look: a few lines
LAST_LOOK_S = 3.0  # chosen by hand: of a run that just began the process is still starting; a fault of it holds nobody longer


class EarlyWarnings:
    """The warnings on the logs `files`, each with the byte from which on it is the job's."""

    def __init__(self, files: Iterable[tuple[str, int]]) -> None:
        self._reads, writes = os.pipe()
        over, self._over = os.pipe()
        command = [sys.executable, "-P", "-m", "forensics.series.live", json.dumps(list(files)), str(over)]
        try:
            # Safe: before orphans are adopted; it starts the process and ends at once, and is reaped here.
            subprocess.run(
                ["/bin/sh", "-c", IN_BACKGROUND, "sh", *command],
                stdin=subprocess.DEVNULL, stdout=writes, stderr=subprocess.DEVNULL, start_new_session=True, check=False,
                pass_fds=(over,),
            )  # fmt: skip
        finally:
            os.close(writes)
            os.close(over)

    def said(self, wait_s: float = 0) -> list[str]:
        """The lines that it said since the last call."""
        if self._reads < 0 or not proc.readable(self._reads, wait_s):
            return []
        data = os.read(self._reads, MAX_SAID_BYTES)
        if not data:
            self.close()
        return data.decode("utf-8", "replace").splitlines()

    def last(self) -> Iterator[str]:
        """What it says when it looks once more, as the run is over; then it ends."""
        os.close(self._over)
        self._over, until = -1, time.monotonic() + LAST_LOOK_S
        while self._reads >= 0 and (left_s := until - time.monotonic()) > 0:
            yield from self.said(left_s)
        self.close()

    def close(self) -> None:
        """End it."""
        for fd in {self._reads, self._over} - {-1}:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._reads = self._over = -1


STACKS_BEFORE_LIMIT_S = 45.0  # chosen by hand: stacks are taken so long before a known time limit
MIN_STALL_S = 60.0  # chosen by hand: shorter silences are ordinary
MIN_OWN_FILES_S = 1.0  # chosen by hand: between two looks at the files of a silent job
OWN_FILES_SHARE = 0.05  # chosen by hand: of the silence that is asked for; a look at many files costs time


class Silence:
    """The silence of a job. `spell`: the last long one, its first and its last moment."""

    def __init__(self, options: Options, log: JobLog | None, growth: Growth) -> None:
        self.options, self.log, self.growth = options, log, growth
        self.spell: tuple[float, float] | None = None
        self._taken_for, self._next_stacks_s, self._limit_taken, self._next_files = -1.0, 0.0, False, 0.0

    def near_limit(self) -> bool:
        """Is a time limit near? True once."""
        near = 0 < self.options.time_limit_s - time.time() < STACKS_BEFORE_LIMIT_S and not self._limit_taken
        self._limit_taken |= near
        return near

    def look(self, pids: Iterable[int], folder: str, last: bool = False) -> float:
        """How long the job is silent, if that is longer than asked for; else 0. `last`: the last look, at the end."""
        log, stall_s = self.log, self.options.stall_s
        if log is None:
            return 0.0
        self._heard(self.growth.look(), True)
        if not stall_s or time.monotonic() - log.last < stall_s:
            return 0.0
        if last or time.monotonic() >= self._next_files:
            self._next_files = time.monotonic() + max(MIN_OWN_FILES_S, OWN_FILES_SHARE * stall_s)
            self._heard(self.growth.own_files(pids, folder, time.time() - (time.monotonic() - log.last)), False)
        silent_s = time.monotonic() - log.last
        if silent_s < stall_s:
            return 0.0
        self.spell = time.time() - silent_s, time.time()
        return silent_s

    def _heard(self, moment: float | None, followed: bool) -> None:
        if moment is not None and self.log is not None:
            self.log.grew(time.monotonic() - (time.time() - moment), followed)

    def stacks_due(self, silent_s: float, say: Callable[[str], None]) -> bool:
        """Are stacks due: at the beginning of a long silence, and each time when it is twice as long?"""
        assert self.log is not None
        if self._taken_for != self.log.last:
            self._taken_for, self._next_stacks_s = self.log.last, 0.0
            if self.options.warn and silent_s > max(MIN_STALL_S, self.log.longest_silence_s):
                say(f"no output for {duration_text(silent_s)}, longer than ever before; stacks are taken")
        if silent_s < self._next_stacks_s:
            return False
        self._next_stacks_s = 2 * silent_s
        return True


WAITING_SHARE = 0.02  # of a processor: a rank that waits in a call over gloo uses less, and one that trains more
WAITING_S = 0.2  # of processor time that a rank may use at any moment, as for one line that it prints
MAX_IDLE_RANKS = 256  # of one host that are looked at


class IdleRanks:
    """Since when each rank has used no processor time worth naming."""

    def __init__(self, stall_s: float) -> None:
        self._stall_s, self._next_stacks_s, self._next_look = stall_s, stall_s, 0.0
        self._since: dict[int, tuple[float, float]] = {}  # by pid: the processor time by then, and the moment

    def stacks_due(self, ranks: Iterable[int]) -> bool:
        """Do more than half of the ranks wait for as long as a silence must last, or for twice as long as at the last time?"""
        now = time.monotonic()
        if not self._stall_s or now < self._next_look:
            return False
        self._next_look = now + max(MIN_OWN_FILES_S, OWN_FILES_SHARE * self._stall_s)
        found = {pid: one.cpu_s for pid in islice(ranks, MAX_IDLE_RANKS) if (one := proc.stat(pid))}
        before, self._since = self._since, {}
        for pid, used in found.items():
            first, since = before.get(pid, (used, now))
            is_at_work = used - first > WAITING_SHARE * (now - since) + WAITING_S
            self._since[pid] = (used, now) if is_at_work else (first, since)
        waits = sorted((now - since for _, since in self._since.values()), reverse=True)
        idle_s = waits[len(waits) // 2] if len(waits) > 1 else 0.0
        if idle_s < self._next_stacks_s:
            self._next_stacks_s = self._next_stacks_s if idle_s >= self._stall_s else self._stall_s
            return False
        self._next_stacks_s = 2 * idle_s
        return True
