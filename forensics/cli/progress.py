"""Progress of long work on stderr, if it is a terminal: how much of the input was read, or how many cases are done.

reading  ━━━━━━━━━━━━━━━━━━━━━━╸           62 %  0:00:12
"""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

MIN_PROGRESS_BYTES = 200 << 20  # smaller inputs are read before a person wonders
TICK_S = 0.2  # between two pictures of the bar: it seems to move


def is_watched() -> bool:
    """Is stderr a terminal that can redraw a line?"""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def bar(paths: Sequence[Path]) -> Iterator[None]:
    """A progress bar for reading `paths` while the block runs; nothing for little input or without a terminal."""
    total = _bytes(paths) if is_watched() else 0
    if total < MIN_PROGRESS_BYTES:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    start = _read_so_far()
    columns = (TextColumn("reading"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=total)
        over = threading.Event()

        def follow() -> None:
            while not over.wait(TICK_S):
                progress.update(task, completed=min(total, _read_so_far() - start))

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _bytes(paths: Sequence[Path]) -> int:
    """Bytes of the files on disk; 0 if unknown."""
    try:
        files = [f for p in paths for f in (p.rglob("*") if p.is_dir() else [p])]
        return sum(f.stat().st_size for f in files if f.is_file())
    except OSError:
        return 0


def _read_so_far() -> int:
    """Bytes that this process has read, as the kernel counts them; 0 if unknown."""
    try:
        with open("/proc/self/io", "rb") as file:  # noqa: PTH123 - read five times a second
            return int(file.readline().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
