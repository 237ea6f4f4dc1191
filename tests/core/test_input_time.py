"""The processor time of an input: how much is granted, when it is over, and what is told then."""

from collections.abc import Callable

import pytest

from forensics.core import input_time, limits
from forensics.core.input_time import InputTime, Share

MIB = 1 << 20


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds of processor time pass."""
    read = [100.0]
    monkeypatch.setattr(input_time.time, "thread_time", lambda: read[0])

    def pass_by(seconds: float) -> None:
        read[0] += seconds

    return pass_by


def test_a_larger_input_gets_more_time() -> None:
    now = limits.current
    granted = [InputTime(size).granted for size in (0, MIB, 2 * MIB, 50 * MIB, 100 * MIB, 1000 * MIB)]
    assert granted[0] == granted[1] == now.small_time
    assert granted == sorted(granted)
    assert granted[3] == granted[4] == now.time
    assert granted[5] == 1000 * now.more_time


def test_opening_may_take_a_part_and_a_share_no_more_than_itself(spend: Callable[[float], None]) -> None:
    time = InputTime(MIB)
    spend(time.granted * (input_time.OPENING_PART - 0.01))
    assert not time.is_over()
    spend(time.granted * 0.02)
    assert time.is_over()
    share = Share(time, read=0.5, all=0.6)
    assert not share.is_read()
    time.add(time.granted * 0.1)
    assert share.is_read()
    assert not share.is_over()
    time.add(time.granted * 0.1)
    assert share.is_over()


def test_other_work_of_the_thread_does_not_count(spend: Callable[[float], None]) -> None:
    time = InputTime(MIB)
    spend(1000)
    time.resume()
    assert time.now() == 0


def test_what_is_told_names_the_limit_that_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "FORENSICS_LIMIT_SMALL_TIME=30" in InputTime(10).told()
    assert "FORENSICS_LIMIT_TIME=220" in InputTime(99 * MIB).told()
    assert "FORENSICS_LIMIT_MORE_TIME=2.2" in InputTime(999 * MIB).told()


def test_each_further_file_gets_time_of_its_own() -> None:
    time = InputTime()
    time.add_file(MIB)
    assert time.granted == limits.current.small_time
    for _ in range(10_000):
        time.add_file(0)
    assert time.granted == pytest.approx(limits.current.small_time + 10_000 * limits.current.file_time)
    assert "FORENSICS_LIMIT_FILE_TIME" in time.told()
