"""Stacks of all threads and the program they stand in, to who holds the lock that another one waits for.

    Thread 0x7f..: train.py:20 in report      with stats_lock:            holds stats_lock (line 18)
                                                  with weights_lock:      waits for weights_lock
    Thread 0x7e..: train.py:12 in update      holds weights_lock (line 10), waits for stats_lock: each waits for the other

A stack names no lock, and no dump tells a lock's owner. What the source adds: a thread that stands inside of a `with lock:` block
holds that lock, and one whose innermost line of the program is such a statement waits for it. Locks taken by `acquire()` alone,
in libraries, or in a program that was not given stay unknown.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from forensics.core import lazy
from forensics.model import Guarded, LockHolder, Program, Region, Scan, Trigger

TRIGGER = Trigger("thread_stacks", ("(most recent call first)", '): "MainThread"'), after=200)
THREAD_HEAD_PATTERN = lazy.regex(
    r"[Tt]hread 0x[0-9a-f]+.{0,80}\(most recent call first\)|Thread (?:0x)?[0-9a-fA-F]+ \((?:idle|active)"
)
THREAD_FRAME_PATTERN = lazy.regex(  # of faulthandler, and of py-spy
    r'File "(?P<file>[^"]{1,500})", line (?P<line>\d{1,9}) in (?P<function>\S.{0,200})'
    r"|^\s+(?P<spy_function>[\w.<>]+) \((?P<spy_file>[^():]{1,300}):(?P<spy_line>\d{1,9})\)"
)


class _Thread(Struct, frozen=True):
    """A thread by the program's own innermost frame: where it stands, what it holds there, and what it waits for."""

    function: str
    place: str
    held: tuple[str, ...]
    wanted: str

    def told(self) -> str:
        """`update at train.py:12 holds weights_lock and waits for stats_lock`."""
        parts = [f"holds {' and '.join(self.held)}"] if self.held else []
        parts += [f"waits for {self.wanted}"] if self.wanted else []
        return f"{self.function} at {self.place} {' and '.join(parts)}"


def lock_holder(scans: Iterable[Scan], programs: Sequence[Program]) -> LockHolder | None:
    """The first thread of a dump that holds what another one waits for; None without a dump, a program or such a pair."""
    if not any(p.guarded for p in programs):
        return None
    for region in (r for scan in scans for r in scan.regions.get(TRIGGER.kind, ())):
        known = [t for frames in _stacks(region) if (t := _standing(frames, programs)) is not None]
        for waiting in (t for t in known if t.wanted):
            for holder in known:
                if holder is not waiting and waiting.wanted in holder.held:
                    circle = bool(holder.wanted) and holder.wanted in waiting.held
                    told = ", and ".join(t.told() for t in known)
                    return LockHolder(waiting.wanted, holder.place, holder.wanted, told, circle)
    return None


def _stacks(region: Region) -> list[list[tuple[str, int, str]]]:
    """(file, line, function) of the frames of each thread, innermost first."""
    stacks: list[list[tuple[str, int, str]]] = [[]]
    for text in [region.text, *(line.text for line in region.lines_after())]:
        if THREAD_HEAD_PATTERN.search(text):
            stacks.append([])
        elif found := THREAD_FRAME_PATTERN.search(text):
            line, function = found["line"] or found["spy_line"], found["function"] or found["spy_function"]
            stacks[-1].append((found["file"] or found["spy_file"], int(line), function.strip()))
    return [frames for frames in stacks if frames]


def _standing(frames: Sequence[tuple[str, int, str]], programs: Sequence[Program]) -> _Thread | None:
    """What a thread holds and waits for in the programs that were given."""
    held: list[str] = []
    own, place, wanted = "", "", ""
    for i, (file, line, function) in enumerate(frames):
        for span in _spans(file, function, programs):
            if line == span.first and i == 0:
                wanted = span.lock
            elif span.first < line <= span.last:
                held.append(span.lock)
            else:
                continue
            own, place = own or function, place or f"{_base(file)}:{line}"
    return _Thread(own, place, tuple(dict.fromkeys(held)), wanted) if place else None


def _spans(file: str, function: str, programs: Sequence[Program]) -> Iterable[Guarded]:
    return (g for p in programs if _base(p.name) == _base(file) for g in p.guarded if g.function == function)


def _base(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
