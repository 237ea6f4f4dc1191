"""When a line without a time was written: in words that claim no more than the lines around it tell."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from forensics.correlation import Clock, Moment, completed, in_one_zone, moment_of, moment_text, seconds_between

OWN = "[2025-12-26T16:05:47+00:00] forensics run: the command, pid 7 (python), ended with"
RAISED = "RuntimeError: file write failed"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("2025-12-26 16:03:03 saved", RAISED, "2025-12-26 16:05:47 stopping"), "between 2025-12-26 16:03:03 and 16:05:47"),
        (
            ("2025-12-26 16:03:03 saved", RAISED, "W1226 16:05:47.086000 8985 a.py:9] x"),
            "between 2025-12-26 16:03:03 and 16:05:47",
        ),
        (("2025-12-26 23:59:03 saved", RAISED, "2025-12-27 00:05:47 x"), "between 2025-12-26 23:59:03 and 2025-12-27 00:05:47"),
        (("2025-12-26 16:03:03.100 saved", RAISED, "2025-12-26 16:03:03.900 x"), "2025-12-26 16:03:03"),
        (("2025-12-26 16:03:03 saved", "step 1", RAISED), "after 2025-12-26 16:03:03"),
        ((RAISED, "[W 05:54:12.398 LabApp] Unhandled error"), "before 05:54:12"),
        (("2025-12-26 16:03:03 saved", RAISED, "2025-12-26 15:00:00 x"), "after 2025-12-26 16:03:03"),  # two clocks
        (("  time      : 2025-12-26_16:03:03", "  exitcode  : -9 (pid: 7)  RuntimeError"), "2025-12-26 16:03:03"),
        (("Results reported at Tue Nov  3 21:49:09 2020", "", RAISED), "before 2020-11-03 21:49:09"),
        (("step 1", RAISED), ""),
        (("Traceback (most recent call last):", RAISED, f"{OWN} exit status 1"), "2025-12-26 16:05:47+00:00"),
        (
            ("Fatal Python error: RuntimeError", "", "Thread 0x7f (most recent call first):", '  File "a.py"', OWN),
            "2025-12-26 16:05:47+00:00",
        ),
        ((RAISED, "step 9", f"{OWN} exit status 1"), "before 2025-12-26 16:05:47+00:00"),
        (("2025-12-26 16:03:03 - ERROR: failed", "Traceback (most recent call last):", "  File", RAISED), "2025-12-26 16:03:03"),
        (
            ("2025-12-26 16:03:03 INFO step 9", "Traceback (most recent call last):", "  File", RAISED),
            "after 2025-12-26 16:03:03",
        ),
        (("*** Aborted at 1544160602 (unix time)", "PC: @ 0x0", "*** SIGBUS RuntimeError ***"), "2018-12-07 05:30:02+00:00"),
    ],
)
def test_the_moment_of_a_line(lines: tuple[str, ...], words: str) -> None:
    at = next(i for i, text in enumerate(lines) if "RuntimeError" in text)
    assert moment_text(moment_of(lines, at)) == words


def test_a_clock_completes_what_stamps_lack() -> None:
    day = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
    clock = Clock("wall", first=day, last=day.replace(hour=9))
    moment = moment_of(("Nov 21 08:30:00 host kernel: x", RAISED, "[I 08:31:00.000 ServerApp] x"), 1)
    assert moment_text(completed(moment, clock)) == "between 2026-11-21 08:30:00 and 08:31:00"


def test_times_that_cannot_be_compared_are_not_near() -> None:
    dated, clock_only = (moment_of((text,), 0) for text in ("2025-12-26 16:03:03 x", "[I 16:03:04.000 ServerApp] x"))
    assert seconds_between(dated, clock_only) == float("inf")
    assert seconds_between(dated, moment_of(("2025-12-26 16:03:05 x",), 0)) == 2.0
    assert seconds_between(Moment(), dated) == float("inf")


@pytest.mark.parametrize(
    ("above", "below", "words"),
    [
        ("2026-11-28 16:09:08 step", "[2026-11-28T15:09:08.100000+00:00] x", "2026-11-28 16:09:08"),
        ("2026-11-28 16:09:08 step", "[2026-11-28T15:10:09.100000+00:00] x", "between 2026-11-28 16:09:08 and 16:10:09"),
        ("2026-11-28 16:09:08 step", "[2026-11-28T14:10:09.100000+00:00] x", "after 2026-11-28 16:09:08"),  # two clocks
    ],
)
def test_a_stamp_with_a_zone_is_told_in_that_of_the_log(above: str, below: str, words: str) -> None:
    found = moment_of((above, RAISED, below), 1)
    assert moment_text(in_one_zone(found, Clock("wall", zone=timezone(timedelta(hours=1))))) == words


def test_where_the_zone_of_a_log_is_only_assumed_a_stamp_with_a_zone_is_told_as_written() -> None:
    found = moment_of(("2020-11-24 00:14:19 step", RAISED, "Finished at: 2020-11-24T00:14:20-02:00"), 1)
    assert moment_text(in_one_zone(found, Clock("wall", floating=True))) == "between 2020-11-24 00:14:19 and 00:14:20"
