"""`forensics timeline`: one merged stream, filters, three forms. The captured case is from sample_logs; other texts are made."""

import csv
import io
import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from forensics.cli.app import build
from forensics.core.errors import UsageError

JUPYTER_OOM = Path(__file__).parents[2] / "sample_logs" / "jupyter_oom"


def run(*args: object) -> Result:
    result = CliRunner().invoke(build(), ["timeline", *map(str, args)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def rows(*args: object) -> list[dict[str, object]]:
    return [json.loads(line) for line in run(*args, "-f", "jsonl").stdout.splitlines()]


def test_a_jupyter_log_and_the_kernels_are_one_stream() -> None:
    got = rows(JUPYTER_OOM)
    times = [str(r["time"]) for r in got]
    assert times == sorted(times)
    kill = next(i for i, r in enumerate(got) if "Killed process" in str(r["text"]))
    restart = next(i for i, r in enumerate(got) if "restarting kernel" in str(r["text"]))
    assert kill < restart
    assert got[kill]["event"] == "host_memory.oom_cgroup"
    assert {r["lane"] for r in got} == {"wall"}
    assert all(len(str(r["source"])) > 0 and r["line"] for r in got)


def test_what_cannot_be_joined_stays_in_a_lane_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "dmesg.log").write_text("[11686.888109] usb 1-1: x\n[    1.000000] Linux version 6.8.0\n")
    (tmp_path / "job.log").write_text("2025-05-02 10:00:00,000 INFO started\n")
    result = run(tmp_path, "-f", "jsonl")
    got = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(r["lane"].replace(str(tmp_path), ""), r["uptime_s"]) for r in got] == [
        ("wall", None),
        ("boot of /dmesg.log", 11686.888109),
        ("boot 2 of /dmesg.log", 1.0),
    ]
    assert "could not be joined" in result.stderr and "dmesg -T" in result.stderr
    left = rows(tmp_path, "--since", "2025-05-02")
    assert [r["text"] for r in left] == ["2025-05-02 10:00:00,000 INFO started"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--since", "2025-05-02T10:00:01"], ["b", "c", "d"]),
        (["--until", "2025-05-02T12:00:01+02:00"], ["a", "b"]),
        (["--level", "warning"], ["b", "d"]),
        (["--level", "E"], ["d"]),
        (["--source", "one"], ["a", "b"]),
        (["--source", "*.txt"], ["c", "d"]),
    ],
)
def test_the_filters_choose_lines_by_time_level_and_source(tmp_path: Path, args: list[str], expected: list[str]) -> None:
    (tmp_path / "one.log").write_text("2025-05-02 10:00:00,000 INFO a\n2025-05-02 10:00:01,000 WARNING b\n")
    (tmp_path / "two.txt").write_text("[I 2025-05-02 10:00:02.000 ServerApp] c\n[E 2025-05-02 10:00:03.000 ServerApp] d\n")
    assert [str(r["text"])[-1] for r in rows(tmp_path, *args)] == expected


def test_text_and_csv_tell_the_same(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text('2025-05-02 10:00:00,000 INFO a, "b"\n    more\nbare\n')
    table = list(csv.DictReader(io.StringIO(run(tmp_path, "-f", "csv").stdout)))
    assert [(r["line"], r["time"], r["uncertainty_s"] != "") for r in table] == [
        ("1", "2025-05-02T10:00:00+00:00", True),
        ("3", "2025-05-02T10:00:00+00:00", False),
    ]
    assert table[0]["text"] == '2025-05-02 10:00:00,000 INFO a, "b"\n    more'
    lines = run(tmp_path).stdout.splitlines()
    assert lines[0].startswith("2025-05-02 10:00:00.000Z") and "one.log:1" in lines[0]
    assert lines[1].strip() == "more" and "one.log:3  bare" in lines[2]


def test_a_secret_that_was_recognised_once_is_masked_in_later_lines_of_every_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("2026-03-01 12:00:00 connect postgres://bob:hunter2pw@db.example.org/runs\n")
    (tmp_path / "b.log").write_text("2026-03-01 12:00:01 refused (hunter2pw)\n")
    assert "hunter2pw" not in run(tmp_path).output


def test_an_assumption_on_many_logs_is_noted_once(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.log").write_text("2026-03-01 12:00:00 step 1\n")
    notes = [line for line in run(tmp_path).stderr.splitlines() if "UTC is assumed" in line]
    assert len(notes) == 1 and "and 2 other sources" in notes[0]


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_bytes(b"2025-05-02 10:00:00,000 INFO a\x07\xe2\x80\xaeb\n")
    assert "\x07" not in run(tmp_path).stdout and "\u202e" not in run(tmp_path).stdout


def test_members_of_an_archive_are_read_twice_without_unpacking_twice(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as tar:
        for name in ("dmesg.log", "jupyter.log"):
            tar.add(JUPYTER_OOM / name, name)
    plain = [(r["line"], r["text"]) for r in rows(JUPYTER_OOM)]
    assert [(r["line"], r["text"]) for r in rows(tmp_path / "b.tar.gz")] == plain


@pytest.mark.parametrize("args", [["--since", "soon"], ["--level", "loud"], ["-f", "xml"]])
def test_wrong_usage_is_told(tmp_path: Path, args: list[str]) -> None:
    (tmp_path / "one.log").write_text("x\n")
    with pytest.raises(UsageError):
        run(tmp_path, *args)
