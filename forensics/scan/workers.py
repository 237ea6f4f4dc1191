"""Match the chunks of a source; for a large source in threads, a few chunks ahead, with the results in order.

A small source is matched in the calling thread: starting threads would take longer. So is one with many reports: for each of
them a thread would wait for the interpreter's lock.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from time import thread_time
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from forensics.core.input_time import Share
from forensics.scan.chunks import Chunk
from forensics.scan.matcher import Matcher, Matches

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

CHUNKS_AHEAD = 2  # chunks being matched while one is confirmed
MIN_THREADED_BYTES = 100_000  # below it, starting threads takes longer than they save: under a millisecond of matching
# In a MiB. A report needs the interpreter's lock. Chosen by hand: logs that two threads read faster have some 20, those that they
# read more slowly 500 and more.
MAX_THREADED_REPORTS = 100
P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of `count` threads, started with the first piece of work."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown()

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """The future result of `work`."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # imports logging, which a small log would wait for

            self._pool = ThreadPoolExecutor(self.count)
        return self._pool.submit(work, *args, **kwargs)


def match_chunks(
    given: Iterator[Chunk], matcher: Matcher, workers: Workers | None, share: Share | None = None
) -> Iterator[tuple[Chunk, Matches]]:
    """Each chunk with what the matcher found in it, in order; in threads as long as the chunks before have few reports. `share`:
    the processor time, to which that of the threads is added."""
    first = list(islice(given, 2))
    pool = workers if workers and workers.count > 1 and sum(len(c.data) for c in first) >= MIN_THREADED_BYTES else None
    waiting: deque[tuple[Chunk, Future[tuple[Matches, float]]]] = deque()
    is_calm = False  # the first chunk tells
    for number, chunk in enumerate(chain(first, given)):
        if pool and is_calm:
            waiting.append((chunk, pool.submit(_timed_find, matcher, chunk.data, number)))
            if len(waiting) > CHUNKS_AHEAD:
                ready, future = waiting.popleft()
                found = _found(future, share)
                is_calm = _is_calm(ready, found)
                yield ready, found
            continue
        yield from ((ready, _found(future, share)) for ready, future in waiting)
        waiting.clear()
        found = matcher.find(chunk.data, number)
        is_calm = _is_calm(chunk, found)
        yield chunk, found
    yield from ((ready, _found(future, share)) for ready, future in waiting)


def _timed_find(matcher: Matcher, data: bytes, number: int) -> tuple[Matches, float]:
    """What the matcher found, and the processor time that it took."""
    begun = thread_time()
    return matcher.find(data, number), thread_time() - begun


def _found(future: "Future[tuple[Matches, float]]", share: Share | None) -> Matches:
    found, seconds = future.result()
    if share:
        share.time.add(seconds)
    return found


def _is_calm(chunk: Chunk, found: Matches) -> bool:
    """Has the chunk so few reports that a thread hardly ever waits for the interpreter's lock?"""
    return found.reports << 20 <= MAX_THREADED_REPORTS * len(chunk.data)
