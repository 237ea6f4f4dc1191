"""Match the chunks of a source; for a large source in threads, a few chunks ahead, with the results in order.

A small source is matched in the calling thread: starting threads would take longer.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from forensics.scan.chunks import Chunk
from forensics.scan.matcher import Matcher, Matches

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

CHUNKS_AHEAD = 2  # chunks being matched while one is confirmed
MIN_THREADED_BYTES = 100_000  # below it, starting threads takes longer than they save: under a millisecond of matching
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


def match_chunks(given: Iterator[Chunk], matcher: Matcher, workers: Workers | None) -> Iterator[tuple[Chunk, Matches]]:
    """Each chunk with what the matcher found in it, in order."""
    first = list(islice(given, 2))
    given = chain(first, given)
    if workers is None or workers.count < 2 or sum(len(c.data) for c in first) < MIN_THREADED_BYTES:
        for number, chunk in enumerate(given):
            yield chunk, matcher.find(chunk.data, number)
        return
    waiting: deque[tuple[Chunk, Future[Matches]]] = deque()
    for number, chunk in enumerate(given):
        waiting.append((chunk, workers.submit(matcher.find, chunk.data, number)))
        if len(waiting) > CHUNKS_AHEAD:
            ready, future = waiting.popleft()
            yield ready, future.result()
    for ready, future in waiting:
        yield ready, future.result()
