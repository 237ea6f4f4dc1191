"""Find when the job wrote last, where its output does not pass through this program: files of its own, and redirected streams.

    forensics run -- python train.py > train.log 2>&1     the size and the time of train.log, looked at each second
    forensics run -- python train.py                      with logs/metrics.csv below its folder, looked at in a long silence

Nothing is asked of the job, and nothing of the files but their status.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from itertools import islice

from forensics.capture import proc
from forensics.capture.bundle import RUN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
