"""The shares of the sources of one input: the small ones are read whole, the large ones get the same, nobody takes another's."""

from collections.abc import Iterator

import pytest

from forensics.core.input_time import READING_PART, InputTime, Share
from forensics.model import Source, Warn, Warning
from forensics.pipeline.time_shares import TimeShares

MIB = 1 << 20
GIB = 1 << 30


def nothing(_: Warn) -> Iterator[bytes]:
    return iter(())


class Clock(InputTime):
    """Goes on only where it is told to."""

    def now(self) -> float:
        return self.spent / self.granted


def granted(time: InputTime, share: Share | None) -> float:
    assert share
    return (share.all - time.now()) * time.granted


def sources(time: InputTime, *sizes: int) -> list[Source]:
    return [Source(f"{i}.log", nothing, expected=size, time=time) for i, size in enumerate(sizes)]


def test_a_small_source_gets_what_it_needs_and_large_ones_the_same() -> None:
    time = Clock(100 * MIB)
    given = sources(time, 1000, 20 * GIB, GIB)
    shares = TimeShares(given)
    assert shares.grant(given[0])
    assert granted(time, shares.current) >= 0.05
    assert shares.grant(given[1])
    assert granted(time, shares.current) == pytest.approx(READING_PART * time.granted / 2, rel=0.02)


def test_what_one_does_not_take_the_next_ones_may() -> None:
    time = Clock(100 * MIB)
    given = sources(time, GIB, GIB)
    shares = TimeShares(given)
    assert shares.grant(given[0])
    time.add(1.0)
    assert shares.grant(given[1])
    assert granted(time, shares.current) == pytest.approx(READING_PART * time.granted - 1.0)


def test_who_takes_more_than_its_share_leaves_the_others_less_and_none_when_all_is_spent() -> None:
    time = Clock(MIB)
    given = sources(time, *[GIB] * 4)
    shares = TimeShares(given)
    noted: list[Warning] = []
    for source in given[:2]:
        assert shares.grant(source)
        time.add(time.granted / 2)
    assert not shares.grant(given[2])
    assert not shares.grant(given[3])
    shares.end(noted.append)
    (warning,) = noted
    assert warning.kind == "limit"
    assert "2 sources were not read, 2.log for one" in warning.message
    assert time.part == 1.0


def test_what_another_process_took_counts() -> None:
    time = Clock(MIB)
    given = sources(time, GIB, GIB)
    shares = TimeShares(given)
    shares.was_read(given[0], 2 * time.granted, is_granted=True)
    assert not shares.grant(given[1])


def test_sources_without_a_time_are_read() -> None:
    given = [Source("a.log", nothing)]
    shares = TimeShares(given)
    assert shares.grant(given[0])
    assert shares.current is None
