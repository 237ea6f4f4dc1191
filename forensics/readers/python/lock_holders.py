"""Find the thread that holds the lock for which another one waits, from the stacks of all threads and the program.

    Thread 0x7f..: train.py:20 in report      with stats_lock:            holds stats_lock (line 18)
                                                  with weights_lock:      waits for weights_lock
    Thread 0x7e..: train.py:12 in update      holds weights_lock (line 10), waits for stats_lock: each waits for the other

A stack names no lock, and a dump does not show the owner of a lock. The source code shows more: a thread inside a `with lock:`
block holds that lock, and a thread whose innermost line is such a statement waits for it. Locks that are taken by `acquire()`, in
libraries, or in a program that was not given stay unknown.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from forensics.data_files.named_parts import patterns_of
from forensics.model import LockHolder, Program, Region, Scan, Trigger
from forensics.readers.python.frames import dump_frame, spy_frame

TRIGGER = Trigger("thread_stacks", ("(most recent call first)", '): "MainThread"'), after=200)
PATTERNS = patterns_of("lock holders")


class _Thread(Struct, frozen=True):
    """A thread: the innermost frame of the program's own code, the locks that it holds, and the lock that it waits for."""

    function: str
    place: str
    held: tuple[str, ...]
    wanted: str

    def __str__(self) -> str:
        """`update at train.py:12 holds weights_lock and waits for stats_lock`."""
        parts = [f"holds {' and '.join(self.held)}"] if self.held else []
        parts += [f"waits for {self.wanted}"] if self.wanted else []
        return f"{self.function} at {self.place} {' and '.join(parts)}"


def lock_holder(scans: Iterable[Scan], programs: Sequence[Program]) -> LockHolder | None:
    """The first thread of a dump that holds a lock for which another one waits; None if nothing shows such a pair."""
    if not any(p.guarded for p in programs):
        return None
    for region in (r for scan in scans for r in scan.regions.get(TRIGGER.kind, ())):
        known = [t for frames in _stacks(region) if (t := _locks_of_thread(frames, programs)) is not None]
        for waiting in (t for t in known if t.wanted):
            for holder in known:
                if holder is not waiting and waiting.wanted in holder.held:
                    circle = bool(holder.wanted) and holder.wanted in waiting.held
                    threads = ", and ".join(map(str, known))
                    return LockHolder(waiting.wanted, holder.place, holder.wanted, threads, circle)
    return None


def _stacks(region: Region) -> list[list[tuple[str, int, str]]]:
    """(file, line, function) of the frames of each thread, innermost first."""
    stacks: list[list[tuple[str, int, str]]] = [[]]
    for text in [region.text, *(line.text for line in region.lines_after())]:
        if PATTERNS.thread_head.search(text):
            stacks.append([])
        elif frame := dump_frame(text) or spy_frame(text):
            stacks[-1].append((frame.file, frame.line or 0, frame.function))
    return [frames for frames in stacks if frames]


def _locks_of_thread(frames: Sequence[tuple[str, int, str]], programs: Sequence[Program]) -> _Thread | None:
    """The locks that a thread holds and waits for, by the given programs; None if there are none."""
    held: list[str] = []
    own, place, wanted = "", "", ""
    for i, (file, line, function) in enumerate(frames):
        for span in (g for p in programs if _base(p.name) == _base(file) for g in p.guarded if g.function == function):
            if line == span.first and i == 0:
                wanted = span.lock
            elif span.first < line <= span.last:
                held.append(span.lock)
            else:
                continue
            own, place = own or function, place or f"{_base(file)}:{line}"
    return _Thread(own, place, tuple(dict.fromkeys(held)), wanted) if place else None


def _base(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
