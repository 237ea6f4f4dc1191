"""Clocks of one source: years, days, zones, boots, order. All texts are made here."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forensics.correlation import Clock
from forensics.correlation.stream import entries, full_clock
from forensics.correlation.timestamp_resolver import ResolvedTime, TimestampResolver
from forensics.model import Line
from forensics.readers.stamps.clock_samples import ClockSample, clock_sample
from tests.correlation.helpers import clock_for, scan_of, source_of

MODIFIED = datetime(2025, 8, 22, 12, tzinfo=UTC)
SAMPLES = Path(__file__).parents[1] / "sources" / "journal_samples"  # scripts/journal_samples.py makes them


def placed(text: str, clock: Clock) -> list[ResolvedTime]:
    resolver = TimestampResolver(clock, "a.log")
    rows = [Line(i, row) for i, row in enumerate(text.splitlines(), 1)]
    got = [(m, resolver.place(m)) for m in map(clock_sample, rows) if m]
    return [where for m, where in got if not m.header]


def times(text: str, clock: Clock) -> list[str | None]:
    return [p.time.isoformat() if p.time else None for p in placed(text, clock)]


def test_the_year_rises_at_new_year() -> None:
    text = "Dec 31 23:59:58 n kernel: a\nJan  1 00:00:03 n kernel: b\n"
    clock, noted = clock_for(text, datetime(2026, 1, 2, tzinfo=UTC))
    assert times(text, clock) == ["2025-12-31T23:59:58+00:00", "2026-01-01T00:00:03+00:00"]
    assert {w.kind for w in noted} == {"year", "zone"}


def test_a_year_is_never_after_the_file_was_written() -> None:
    clock, _ = clock_for("Aug 23 18:00:00 n kernel: a\n", MODIFIED)
    assert clock.first == datetime(2024, 8, 23, 18, tzinfo=UTC)


def test_a_year_comes_from_a_neighbour_before_the_file() -> None:
    text = "2019-03-04 05:06:07,000 INFO x\n[rank0]:[W304 05:06:09.000 x.cpp:1] y\n"
    clock, noted = clock_for(text, MODIFIED)
    assert times(text, clock)[1] == "2019-03-04T05:06:09+00:00"
    assert "year" not in {w.kind for w in noted}


def test_year_and_zone_come_from_the_journals_header() -> None:
    text = "-- Logs begin at Fri 2021-08-20 03:00:07 CEST, end at Fri 2021-08-27 03:00:07 CEST. --\nAug 22 03:00:07 n kernel: x\n"
    clock, noted = clock_for(text, MODIFIED)
    assert times(text, clock) == ["2021-08-22T03:00:07+02:00"]
    assert [w.kind for w in noted] == ["zone"] and "+0200" in noted[0].message


def test_a_day_that_the_log_prints_in_full_gives_the_year() -> None:
    clock, noted = clock_for("Dec 31 23:50:00 n kernel: a\nJan  2 00:00:07 n x: rotated audit(1451692807.123:4)\n", MODIFIED)
    assert clock.start == datetime(2015, 12, 31, 23, 50) and "year" not in {w.kind for w in noted}
    clock, noted = clock_for("Aug 22 03:00:07 n x: built 2019-01-02\n", MODIFIED)
    assert "year" in {w.kind for w in noted}


def test_without_any_date_there_is_no_time() -> None:
    clock, noted = clock_for("Aug 22 03:00:07 n kernel: a\n")
    assert clock.first is None
    assert any(w.kind == "year" and "nothing shows it" in w.message for w in noted)


def test_the_day_rises_at_midnight() -> None:
    text = "[I 23:59:59.000 NotebookApp] a\n[I 00:00:02.000 NotebookApp] b\n[I 00:00:01.900 NotebookApp] late\n"
    clock, noted = clock_for(text, datetime(2025, 8, 22, 0, 5, tzinfo=UTC))
    assert times(text, clock) == ["2025-08-21T23:59:59+00:00", "2025-08-22T00:00:02+00:00", "2025-08-22T00:00:01.900000+00:00"]
    assert "date" in {w.kind for w in noted}


def test_bare_times_between_dated_ones_take_their_day() -> None:
    text = "[I 2024-05-13 23:50:00.000 ServerApp] a\n[I 23:59:00.000 NotebookApp] b\n[I 00:01:00.000 NotebookApp] c\n"
    clock, noted = clock_for(text, MODIFIED)
    assert times(text, clock)[1:] == ["2024-05-13T23:59:00+00:00", "2024-05-14T00:01:00+00:00"]
    assert "date" not in {w.kind for w in noted}


@given(st.lists(st.integers(min_value=1, max_value=17 * 3600), min_size=1, max_size=30), st.integers(0, 86399))
@example([1, 1, 1], 86337)  # the file was written at midnight
def test_days_are_counted_for_any_log_that_never_pauses_a_day(gaps: list[int], start: int) -> None:
    moments = [datetime(2024, 2, 27, tzinfo=UTC) + timedelta(seconds=start)]
    for gap in gaps:
        moments.append(moments[-1] + timedelta(seconds=gap))
    text = "".join(f"[I {m:%H:%M:%S}.000 NotebookApp] x\n" for m in moments)
    scanned = scan_of("a.log", text, moments[-1] + timedelta(minutes=1))
    clock = full_clock(scanned, [], lambda _: None)
    day, back = timedelta(days=1), timedelta(hours=6)
    seen = all(b.date() == a.date() or b - day < a - back for a, b in pairwise(moments))
    if seen:  # a pause of more than 18 hours that ends before the same time of day cannot be seen
        assert [p.time for p in placed(text, clock)] == moments


def test_the_zone_of_date_holds_for_the_program_behind_it() -> None:
    text = "Sat Nov 21 00:35:34 PST 2026\n2026-11-21 00:35:43,555 INFO train: x\n"
    clock, noted = clock_for(text)
    assert times(text, clock)[1] == "2026-11-21T00:35:43.555000-08:00"
    assert [w.kind for w in noted] == ["zone"] and "line 1" in noted[0].message


def test_a_line_in_utc_beside_one_without_zone_tells_the_zone() -> None:
    text = "2024-05-01T12:00:05Z starting\n[I 2024-05-01 14:00:06.000 ServerApp] x\n"
    assert times(text, clock_for(text)[0])[1] == "2024-05-01T14:00:06+02:00"
    far = "2024-05-01T12:00:05Z starting\n[I 2024-05-01 14:07:06.000 ServerApp] x\n"
    assert times(far, clock_for(far)[0])[1] == "2024-05-01T14:07:06+00:00"


@pytest.mark.parametrize(
    ("logged", "year", "zone"),
    [("Dec 12 09:13:10", 2022, "+11:00"), ("Dec 11 22:13:09", 2022, "+00:00"), ("Dec 11 18:43:08", 2022, "-03:30"), ("Dec 11 22:20:00", 2022, "+00:00")],
)  # fmt: skip
def test_year_and_zone_come_from_the_kernels_setting_of_the_clock(logged: str, year: int, zone: str) -> None:
    """A syslog was said to have no year, and 2025 assumed, where the kernel prints the date at boot."""
    text = (
        f"{logged} n kernel: rtc_cmos 00:04: setting system clock to 2022-12-11T22:13:08 UTC (1670796788)\n"
        f"{logged[:-2]}20 n systemd[1]: Started a.\n"
    )
    clock, noted = clock_for(text, MODIFIED)
    last = times(text, clock)[1]
    assert last and (last[:4], last[-6:]) == (str(year), zone)
    assert "year" not in {w.kind for w in noted}


def test_a_zone_of_several_places_is_told_and_not_guessed() -> None:
    clock, noted = clock_for("Fri 2025-08-22 03:00:07 CST n kernel: x\n")
    assert clock.first == datetime(2025, 8, 22, 3, 0, 7, tzinfo=UTC)
    assert any("CST" in w.message for w in noted)


def test_an_anchor_gives_its_boot_times_and_no_other() -> None:
    text = (
        "[  100.000000] before\n"
        "2025-08-22T03:00:07+00:00 n kernel: [  107.000000] both\n"
        "[  110.000000] after\n"
        "[    0.000000] Linux version 6.8.0\n"
        "[    5.000000] of the second boot\n"
    )
    clock, _ = clock_for(text)
    got = placed(text, clock)
    assert clock.kind == "wall+mono" and clock.unanchored()
    assert [p.time.isoformat() if p.time else None for p in got[:3]] == [
        "2025-08-22T03:00:00+00:00",
        "2025-08-22T03:00:07+00:00",
        "2025-08-22T03:00:10+00:00",
    ]
    assert [(p.time, p.lane, p.uptime_s) for p in got[3:]] == [(None, "boot 2 of a.log", 0.0), (None, "boot 2 of a.log", 5.0)]
    assert all(p.uncertainty_s and p.uncertainty_s >= 1 for p in got[:3])


@pytest.mark.parametrize(
    ("text", "lanes"),
    [
        ("[  100.000000] a\n[   99.990000] other processor\n", ["boot of a.log"] * 2),
        ("[  100.000000] a\n[    3.000000] b\n", ["boot of a.log", "boot 2 of a.log"]),
        ("[  5.000000] a\n-- Reboot --\n[    9.000000] b\n", ["boot of a.log", "boot 2 of a.log"]),
        ("-- Boot 5936b00ee7ee04cff9afb308244ef8aa --\n[    9.000000] b\n", ["boot of a.log"]),
    ],
)
def test_boots_get_lanes_of_their_own(text: str, lanes: list[str]) -> None:
    assert [p.lane for p in placed(text, clock_for(text)[0])] == lanes


def test_steps_of_dmesg_stay_within_their_minute() -> None:
    text = "[Feb13 23:31] a\n[  +7.000000] b\n[ +90.000000] c\n[Feb13 23:33] d\n"
    clock, _ = clock_for(text, datetime(2009, 2, 14, tzinfo=UTC))
    got = placed(text, clock)
    assert [p.time.isoformat(timespec="seconds") if p.time else None for p in got] == [
        "2009-02-13T23:31:00+00:00",
        "2009-02-13T23:31:07+00:00",
        "2009-02-13T23:31:59+00:00",
        "2009-02-13T23:33:00+00:00",
    ]
    assert all(p.uncertainty_s and p.uncertainty_s >= 60 for p in got)


def test_a_log_with_the_newest_line_first_is_read_backwards() -> None:
    text = "".join(f"2025-08-22 03:00:{s:02d},000 INFO x{s}\n" for s in range(20, 10, -1))
    clock, _ = clock_for(text)
    assert clock.backwards
    assert [e.text[-3:] for e in entries(source_of("a.log", text), clock)] == [f"x{s}" for s in range(11, 21)]


@pytest.mark.parametrize(
    ("mode", "first", "last", "count"),
    [
        ("short-full", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("with-unit", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short-iso", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short-iso-precise", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short-iso_tz", "2025-08-22T03:00:07", "2025-08-22T03:00:07", 2),
        ("short-unix", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short-precise", "2025-08-22T03:00:07", "2025-08-22T03:01:37", 6),
        ("short-monotonic", None, None, 6),
        ("short-delta", None, None, 6),
        ("cat", None, None, 7),
    ],
)
def test_a_journal_of_two_boots_in_every_mode(mode: str, first: str | None, last: str | None, count: int) -> None:
    text = (SAMPLES / f"journalctl_{mode}.log").read_text()
    clock = full_clock(scan_of("a.log", text, MODIFIED), [], lambda _: None)
    got = list(entries(source_of("a.log", text), clock))
    assert len(got) == count
    told = [f"{t.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if t else None for t in (clock.first, clock.last)]
    assert told == [first, last]
    if mode.startswith("short") and first is None:
        assert [e.lane for e in got[-2:]] == ["boot of a.log", "boot 2 of a.log"]


def test_a_sample_without_a_stamp_has_no_time() -> None:
    assert TimestampResolver(Clock("wall"), "a.log").place(ClockSample(1)).time is None


@pytest.mark.parametrize(("said", "hours"), [("UTC+01:00 (CET)", 1), ("UTC-08:00 (PST)", -8), ("UTC+00:00 (UTC)", 0)])
def test_the_zone_that_a_captured_run_recorded_is_no_assumption(said: str, hours: int) -> None:
    text = f"2026-11-28 16:09:08 step 1\n[2026-11-28T15:09:09.100000+00:00] forensics run: local times are {said}\n"
    clock, warnings = clock_for(text)
    assert warnings == [] and not clock.floating
    assert clock.zone.utcoffset(None) == timedelta(hours=hours)
