"""What stands in the wrong order is put right: newest-first logs, rotated sets and their doubles, the parts of a panic."""

import gzip
from pathlib import Path

import pytest

from forensics.sources.turning import is_newest_first, line_time
from tests.sources.helpers import read_bytes, read_path

COLAB = ["Dec 9, 2024, 2:29:41 PM | WARNING | kernel restarted", "Dec 9, 2024, 2:29:39 PM | WARNING | Invalid handle"]


def test_a_colab_table_is_turned_and_stands_as_it_stood() -> None:
    found = read_bytes("\n".join(["Timestamp | Level | Message", "-- | -- | --", *COLAB]).encode())
    assert found.numbered == [(4, COLAB[1]), (3, COLAB[0]), (1, "Timestamp | Level | Message")]
    assert [w.kind for w in found.warnings] == ["order"]


def test_a_colab_csv_with_narrow_spaces_and_lines_inside() -> None:
    text = (
        "Timestamp,Level,Message\n"
        '"Oct 18, 2023, 7:54:50\u202fAM",INFO,"KernelRestarter: restarting, now"\n'
        '"Oct 18, 2023, 7:54:49\u202fAM",WARNING,"first\nsecond ""quoted"""\n'
        '"Oct 18, 2023, 7:54:48\u202fAM",WARNING,oldest\n'
    )
    assert read_bytes(text.encode()).numbered == [
        (5, "Oct 18, 2023, 7:54:48 AM | WARNING | oldest"),
        (3, "Oct 18, 2023, 7:54:49 AM | WARNING | first"),
        (4, 'second "quoted"'),
        (2, "Oct 18, 2023, 7:54:50 AM | INFO | KernelRestarter: restarting, now"),
    ]


def test_a_reversed_log_is_turned_record_by_record() -> None:
    records = [f"2026-08-22 03:00:{s:02d},000 ERROR step {s}\n  File a\n  File b" for s in range(59, 39, -1)]
    found = read_bytes("\n".join(records).encode())
    assert "\n".join(found.lines) == "\n".join(reversed(records))
    assert found.numbers[:4] == [58, 59, 60, 55]


@pytest.mark.parametrize(
    "lines",
    [
        [f"2026-08-22 03:00:{s:02d} INFO x" for s in range(40)],
        ["2026-08-22 03:00:05 a", "2026-08-22 03:00:04 b", "2026-08-22 03:00:06 c"],
        ["[   12.000001] a", "no time", "[    1.000000] next boot"],
        ["plain", "text"],
    ],
)
def test_logs_in_order_are_left_alone(lines: list[str]) -> None:
    assert not is_newest_first(lines, 2)
    assert read_bytes("\n".join(lines).encode()).lines == lines


def test_moments_grow_with_time() -> None:
    for earlier, later in (
        ("2026-08-22T03:00:07.1Z x", "2026-08-22 03:00:07,2 x"),
        ("Aug 31 23:59:59 node x", "Sep  1 00:00:00 node x"),
        ("Dec 9, 2024, 11:59:59 AM", "Dec 9, 2024, 12:00:00 PM"),
        ("<6>[   13.826897] x", "[  113.826897] x"),
    ):
        a, b = line_time(earlier), line_time(later)
        assert a and b and a[0] == b[0] and a[1] < b[1]
    assert line_time("Jan 99 00:00:00 x") is None


def syslog(day: int, n: int) -> str:
    return "".join(f"Aug {day:2d} 03:00:{i:02d} node kernel: day {day} line {i}\n" for i in range(n))


def test_a_rotated_set_is_read_from_the_oldest_and_doubles_once(tmp_path: Path) -> None:
    (tmp_path / "kern.log").write_text(syslog(20, 30)[-200:].split("\n", 1)[1] + syslog(21, 5))
    (tmp_path / "kern.log.1").write_text(syslog(20, 30))
    (tmp_path / "kern.log.2.gz").write_bytes(gzip.compress(syslog(9, 5).encode()))
    (tmp_path / "other.log").write_text("text\n")
    found, noted = read_path(tmp_path)
    assert [Path(f.name).name for f in found] == ["kern.log.2.gz", "kern.log.1", "kern.log", "other.log"]
    assert "".join(x + "\n" for f in found[:3] for x in f.lines) == syslog(9, 5) + syslog(20, 30) + syslog(21, 5)
    left_out = found[2].numbers[0] - 1
    assert left_out == 4
    assert (tmp_path / "kern.log").read_text().split("\n")[left_out] == found[2].lines[0]
    assert [(w.kind, w.source) for w in noted] == [("duplicate", str(tmp_path / "kern.log"))]


def test_the_turn_of_the_year_is_no_jump_back(tmp_path: Path) -> None:
    (tmp_path / "messages").write_text("Jan  2 03:00:00 node kernel: new\n")
    (tmp_path / "messages-20260101").write_text("Dec 28 03:00:00 node kernel: old\n")
    (tmp_path / "messages-20251220").write_text("Dec 14 03:00:00 node kernel: oldest\n")
    found, _ = read_path(tmp_path)
    assert [f.lines[0].split()[-1] for f in found] == ["oldest", "old", "new"]


def test_without_times_the_numbers_tell_the_age(tmp_path: Path) -> None:
    for name in ("app.log", "app.log.1", "app.log.2", "app.log.10"):
        (tmp_path / name).write_text(f"{name}\n")
    found, _ = read_path(tmp_path)
    assert [f.lines[0] for f in found] == ["app.log.10", "app.log.2", "app.log.1", "app.log"]


def test_ranks_are_no_rotated_set(tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / f"stderr.{rank}").write_text("2026-08-22 03:00:07 Killed\n")
    found, noted = read_path(tmp_path)
    assert [Path(f.name).name for f in found] == ["stderr.0", "stderr.1", "stderr.2"]
    assert [f.lines for f in found] == [["2026-08-22 03:00:07 Killed"]] * 3
    assert noted == []


def test_parts_of_a_panic_in_one_file_and_in_several(tmp_path: Path) -> None:
    parts = {n: f"Panic#1 Part{n}\n<6>[   1{9 - n}.000000] part {n}\n" for n in (1, 2, 3)}
    found = read_bytes("".join(parts[n] for n in (1, 2, 3)).encode())
    assert found.numbered == [(i, line) for n in (3, 2, 1) for i, line in enumerate(parts[n].splitlines(), 2 * n - 1)]
    for n, text in parts.items():
        (tmp_path / f"dmesg-erst-732{n}").write_text(text)
    files, _ = read_path(tmp_path)
    assert [f.lines[0] for f in files] == ["Panic#1 Part3", "Panic#1 Part2", "Panic#1 Part1"]
