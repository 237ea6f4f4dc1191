"""Progress of long work on stderr, if it is a terminal: what is done, how fast, and since when. Nothing for work of 2 s.

reading   62 %  1.2 GiB of 2 GiB  140 MiB/s  0:12
cases     31 %  19 of 60  7/s  0:03
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

PATIENCE_S = 2.0  # shorter work is over before a person wonders
TICK_S = 0.2  # between two pictures of the line: it seems to move
CLEAR_LINE = "\r\x1b[K"
T = TypeVar("T")


def is_watched() -> bool:
    """Is stderr a terminal that can redraw a line?"""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def shown(what: str, done: Callable[[], float], total: Callable[[], float], unit: Callable[[float], str]) -> Iterator[None]:
    """A line of progress while the block runs longer than PATIENCE_S, if somebody watches.

    `done`, `total`: how much is done, and of how much; 0 for a total that is not known. `unit`: an amount in words.
    """
    if not is_watched():
        yield
        return
    start, over = time.monotonic(), threading.Event()

    def follow() -> None:
        if over.wait(PATIENCE_S):
            return
        all_of_it = total()
        while True:
            sys.stderr.write(CLEAR_LINE + progress_line(what, done(), all_of_it, time.monotonic() - start, unit))
            sys.stderr.flush()
            if over.wait(TICK_S):
                sys.stderr.write(CLEAR_LINE)
                sys.stderr.flush()
                return

    with _beside(follow, over):
        yield


@contextlib.contextmanager
def _beside(work: Callable[[], None], over: threading.Event) -> Iterator[None]:
    """Do `work` in a thread of its own until the block is over, which `over` tells it."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def told(work: str) -> Iterator[None]:
    """A line that names `work` if it takes longer than PATIENCE_S; on a terminal it is cleared when the work is done."""
    over, watched = threading.Event(), is_watched()

    def say() -> None:
        if not over.wait(PATIENCE_S):
            sys.stderr.write(f"{CLEAR_LINE if watched else ''}forensics: {work}{'' if watched else chr(10)}")
            sys.stderr.flush()
            over.wait()
            sys.stderr.write(CLEAR_LINE if watched else "")

    with _beside(say, over):
        yield


def progress_line(what: str, done: float, total: float, seconds: float, unit: Callable[[float], str]) -> str:
    """`reading   62 %  1.2 GiB of 2 GiB  140 MiB/s  0:12`"""
    done = min(done, total) if total else done
    parts = [f"{what:<8}"]
    parts += [f"{100 * done / total:3.0f} %", f"{unit(done)} of {unit(total)}"] if total else [unit(done)]
    parts += [f"{unit(done / max(seconds, TICK_S))}/s", f"{seconds // 60:.0f}:{seconds % 60:02.0f}"]
    return "  ".join(parts)


@contextlib.contextmanager
def bar(paths: Sequence[Path]) -> Iterator[None]:
    """Progress of reading `paths` while the block runs."""
    from forensics.core.text import format_size

    start = _read_so_far() if is_watched() else 0
    with shown("reading", lambda: _read_so_far() - start, lambda: _bytes(paths), format_size):
        yield


def counted(what: str, items: Iterable[T], total: int) -> Iterator[T]:
    """The items, with progress by their number."""
    number = 0
    with shown(what, lambda: number, lambda: total, lambda amount: f"{amount:.3g}"):
        for item in items:
            yield item
            number += 1


def _bytes(paths: Sequence[Path]) -> int:
    """Bytes of the files on disk; 0 if unknown."""
    try:
        files = [f for p in paths for f in (p.rglob("*") if p.is_dir() else [p])]
        return sum(f.stat().st_size for f in files if f.is_file())
    except OSError:
        return 0


def _read_so_far() -> int:
    """Bytes that this process and its workers have read, as the kernel counts them; 0 if unknown."""
    return sum(map(_read_by, ("self", *_workers())))


def _workers() -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return []


def _read_by(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/io", "rb") as file:  # noqa: PTH123 - read five times a second
            return int(file.readline().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
