"""Forked processes read many small sources, a batch at a time. Results come in order.

    rank00000.err ... rank01999.err, 2 cores  ->  process 1: the first 32, process 2: the next 32, process 1: the next 32, ...

With small sources it is Python's own work that takes the time, so threads do not help. A process inherits what was opened and
compiled, and sends back only what it found; the first source is read here, so that it inherits the patterns which that needed.
Nothing is forked for little work, where one process is asked for, or on a system where forking is not the custom. A batch whose
process died is read here.
"""

import gc
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from forensics.model import Source

if TYPE_CHECKING:
    from concurrent.futures import Future

S = TypeVar("S")
T = TypeVar("T")
Packing = Callable[[Any], Any]  # from the results of a batch to what is sent from a process, or back
MAX_SMALL_BYTES = 8 << 20  # threads would have a few blocks to share, and most of the time on such a source is Python's own
SOURCE_BYTES = 64 << 10  # chosen by hand: what is done once for a source takes as long as so many bytes full of numbers
MIN_POOLED_SOURCES = 96  # of no length; starting the processes takes as long as reading some thirty
MIN_WORK = MIN_POOLED_SOURCES * SOURCE_BYTES
SOURCES_PER_BATCH = 48  # half of MIN_POOLED_SOURCES, so two processes get one each; as many of 5 KB are read together
MAX_PROCESSES = 8  # the first one's own work on a source is a fifth of all, and each process takes memory

_readers: list[Callable[[slice], Any]] = []  # in a forked process: what reads a batch; empty in the first process


def is_small(source: Source) -> bool:
    """Is it short, or a dump, which is read at once, and can another process open it?"""
    return source.dump is not None or (source.size is not None and source.size <= MAX_SMALL_BYTES)


def is_forked() -> bool:
    """Is this another process than the first one? What it found is packed before it is sent."""
    return bool(_readers)


def _unchanged(value: Any) -> Any:
    return value


def work_of_source(source: Source) -> int:
    """How long it takes to read a source, in bytes of text."""
    return SOURCE_BYTES + (source.size or 0)


def read_in_pool(
    sources: Sequence[S],
    read: Callable[[Sequence[S]], list[T]],
    processes: int,
    pack: Packing = _unchanged,
    unpack: Packing = _unchanged,
    work: Callable[[S], int] = work_of_source,  # type: ignore[assignment]
) -> Generator[T]:
    """The results of `read`, which is given a batch of `sources` at a time, in order, by at most so many processes. They end
    when the generator is closed.

    `pack` makes of the results of a batch what is sent and can be pickled, `unpack` these of that. `work`: as work_of_source().
    """
    works = [*map(work, sources)]
    if processes < 2 or len(works) <= 2 or sum(works) < MIN_WORK or sys.platform != "linux":
        yield from chain.from_iterable(read(sources[batch]) for batch in _batches(works, 1))
        return
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    def read_here(batch: slice) -> list[T]:  # a forked process inherits it, so that it need not be pickled
        return read(sources[batch])

    first, sources, others = read_here(slice(1)), sources[1:], set(active_children())
    batches = _batches(works[1:], min(processes, MAX_PROCESSES))
    pool = ProcessPoolExecutor(min(processes, len(batches), MAX_PROCESSES), get_context("fork"), _begin, (read_here, pack))
    try:
        coming = deque(pool.submit(_read, batch) for batch in batches)  # the first one forks
    except (OSError, BrokenExecutor):  # no more processes to be had, as in a bounded container; or one was killed at once
        for process in set(active_children()) - others:
            process.terminate()
        yield from first
        yield from chain.from_iterable(map(read_here, batches))
        return
    try:
        yield from first
        for batch in batches:
            found = _received(coming.popleft(), unpack)  # what was handed on is not kept here
            yield from read_here(batch) if found is None else found
    finally:
        pool.shutdown(cancel_futures=True)


def _batches(works: Sequence[int], processes: int) -> list[slice]:
    """Sources that follow each other, divided so that each batch takes about as long as SOURCES_PER_BATCH of no length, or as a
    process's part of what is left, so that all processes end at about the same time."""
    starts, load, left = [0], 0, sum(works)
    for i, work in enumerate(works):
        if load >= min(SOURCES_PER_BATCH * SOURCE_BYTES, (left + load) // processes):
            starts.append(i)
            load = 0
        load += work
        left -= work
    return [slice(a, b) for a, b in zip(starts, (*starts[1:], len(works)), strict=True) if a < b]


def _received(future: "Future[Any]", unpack: Packing) -> list[Any] | None:
    """The results of a batch; None if its process was killed, or raised an error, which is clearer when it is raised here."""
    try:
        return list(unpack(future.result()))
    except Exception:
        return None


def _begin(read_batch: Callable[[slice], list[Any]], pack: Packing) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the first one ends the others
    gc.freeze()  # what was inherited is not looked through for cycles, nor its memory copied for that
    _readers.append(lambda batch: pack(read_batch(batch)))


def _read(batch: slice) -> Any:
    return _readers[0](batch)
