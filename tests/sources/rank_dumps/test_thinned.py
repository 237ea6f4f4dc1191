"""Most calls of a large dump are not built, and the dump tells the same; one that is made to mislead this is refused in a line."""

import pytest

from benchmarks.rank_dumps import dump
from forensics.sources.rank_dumps import DumpError, read_flight_recorder, thinned

LARGE = dump(rank=3, ranks=8, calls=600, stays_away=False)


def test_a_large_dump_tells_what_it_tells_when_it_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    values = thinned.read_thinned(LARGE, last=32, pending=16)
    read = read_flight_recorder(LARGE, "rank_3")
    assert sum(isinstance(one, dict) for one in values["entries"].entries) < 100
    monkeypatch.setattr(thinned, "MIN_BYTES", len(LARGE) + 1)
    assert read == read_flight_recorder(LARGE, "rank_3")
    assert (read.entries, len(read.groups[0].seqs), read.groups[1].first_pending) == (600, 300, 300)


@pytest.mark.parametrize(
    ("place", "put"),
    [
        (b"nccl:all_reduce", None),  # a text that holds a call: its length does not fit any more
        (b"](}(", b"](J\xff\xff\xff\x7f}("),  # the list of calls claims that two thousand million were left out
        (b"h\x12", b"h\xfe"),  # marks of what the dump does not hold
    ],
)
def test_a_dump_that_misleads_is_refused(place: bytes, put: bytes | None) -> None:
    pieces = thinned._pattern(thinned._order(LARGE)).split(LARGE)
    with pytest.raises(DumpError):
        read_flight_recorder(LARGE.replace(place, pieces[1] if put is None else put), "rank_3")
