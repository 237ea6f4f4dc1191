"""When chunks are matched in threads."""

import threading
from collections.abc import Iterator

import pytest

from forensics.scan.chunks import Chunk
from forensics.scan.matcher import Matches
from forensics.scan.workers import MAX_THREADED_REPORTS, MIN_THREADED_BYTES, Workers, match_chunks


class _Matcher:
    """Reports so often in each chunk; notes which chunks were matched in a thread of their own."""

    def __init__(self, reports: list[int]) -> None:
        self.reports, self.threaded = reports, set[int]()

    def find(self, data: bytes, number: int) -> Matches:
        if threading.current_thread() is not threading.main_thread():
            self.threaded.add(number)
        return Matches([], {}, [], number, self.reports[number])


def _chunks(count: int) -> Iterator[Chunk]:
    return (Chunk(b"x" * (1 << 20)) for _ in range(count))


@pytest.mark.parametrize(
    ("reports", "threaded"),
    [
        ([0] * 6, {1, 2, 3, 4, 5}),
        ([MAX_THREADED_REPORTS + 1] * 6, set()),
        ([MAX_THREADED_REPORTS + 1, 0, 0, 0, 0, 0], {2, 3, 4, 5}),
    ],
)
def test_chunks_with_many_reports_are_matched_in_turn(reports: list[int], threaded: set[int]) -> None:
    matcher = _Matcher(reports)
    with Workers(2) as workers:
        found = [m.line_ends for _, m in match_chunks(_chunks(len(reports)), matcher, workers)]  # type: ignore[arg-type]
    assert found == list(range(len(reports)))
    assert matcher.threaded == threaded


def test_threads_stop_where_reports_begin() -> None:
    matcher = _Matcher([0, 0, *[5000] * 18])
    with Workers(2) as workers:
        assert len([*match_chunks(_chunks(20), matcher, workers)]) == 20  # type: ignore[arg-type]
    assert len(matcher.threaded) < 8


def test_a_small_source_is_matched_in_the_calling_thread() -> None:
    matcher = _Matcher([0, 0])
    with Workers(2) as workers:
        [*match_chunks((Chunk(b"x" * (MIN_THREADED_BYTES // 4)) for _ in range(2)), matcher, workers)]  # type: ignore[arg-type]
    assert not matcher.threaded
