"""Many small sources read by forked processes, a share at a time, in order: it is Python's work that takes the time with them.

    rank00000.err ... rank01999.err, 2 cores  ->  process 1: the first 32, process 2: the next 32, process 1: the next 32, ...

A process inherits what was opened and compiled, so that only what it found comes back. Nothing is forked for a few sources, where
one process is asked for, or where forking is not the custom; a share whose process died is read here.
"""

import signal
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from forensics.model import Source

T = TypeVar("T")
SMALL_BYTES = 1 << 20  # one block: threads would have nothing to share
MANY = 96  # starting the processes takes as long as reading some thirty
SHARE = 32
MOST = 8  # processes: the first one's own work on a source is a fifth of all, and each takes memory

_reading: list[Callable[[slice], list[Any]]] = []  # in a forked process, what reads a share; empty in the first one


def is_small(source: Source) -> bool:
    """Is it short, and can another process open it?"""
    return source.size is not None and source.size <= SMALL_BYTES


def read_shares(sources: Sequence[Source], read: Callable[[Source], T], processes: int) -> Generator[T]:
    """What `read` gives for each of `sources`, in order, by at most so many processes, which end when this is closed.

    What it gives has to be something that can be pickled.
    """
    if processes < 2 or len(sources) < MANY or sys.platform != "linux":
        yield from map(read, sources)
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    def read_here(share: slice) -> list[T]:
        return [read(source) for source in sources[share]]

    shares = [slice(at, at + SHARE) for at in range(0, len(sources), SHARE)]
    others = set(active_children())
    # What begins a forked process is inherited, so that it needs not be pickled.
    pool = ProcessPoolExecutor(min(processes, len(shares), MOST), get_context("fork"), _begin, (read_here,))
    try:
        coming = [pool.submit(_read, share) for share in shares]  # the first one forks
    except (OSError, BrokenExecutor):  # no more processes to be had, as in a bounded container; or one was killed at once
        for process in set(active_children()) - others:
            process.terminate()
        yield from map(read, sources)
        return
    try:
        for share, future in zip(shares, coming, strict=True):
            try:
                found = future.result()
            except Exception:  # of a process that was killed, or an error that is told better from here
                found = read_here(share)
            yield from found
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(read_share: Callable[[slice], list[Any]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the first one ends the others
    _reading.append(read_share)


def _read(share: slice) -> list[Any]:
    return _reading[0](share)
