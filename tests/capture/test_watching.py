"""What is said while a job runs: memory that will run out, output that falls silent; and nothing where nobody asked."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.capture import collector as collecting
from forensics.capture import growth
from forensics.capture.bundle import Bundle
from forensics.capture.collector import Collector
from forensics.capture.joblog import JobLog
from forensics.capture.options import Options

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
MIB = 1 << 20


def watched(folder: Path, said: list[str], **options: object) -> Collector:
    bundle = Bundle(str(folder / "b"))
    log = JobLog(bundle.folder, MIB)
    return Collector(Options(command=["x"], kernel_log=False, **options), bundle, 1 << 22, False, log, said.append)


def grown(seconds: int, used_mib: int, limit_mib: int = 1000) -> list[dict[str, Any]]:
    """Samples 5 s apart: `used_mib` more in all, of a group's limit."""
    rows = range(0, seconds + 1, 5)
    return [
        {
            "time": 0.0, "monotonic_s": float(s), "rss_bytes": used_mib * MIB * s // seconds, "available_bytes": 64 << 30,
            "group_bytes": used_mib * MIB * s // seconds, "limit_bytes": limit_mib * MIB,
        }
        for s in rows
    ]  # fmt: skip


def loaded(used_mib: int) -> list[dict[str, Any]]:
    """A program that loads its data in 20 s and then computes."""
    return [r | {"group_bytes": min(used_mib, used_mib * r["monotonic_s"] / 20) * MIB} for r in grown(60, 0)]


@pytest.mark.parametrize(
    ("rows", "left_s"),
    [
        (grown(60, 600), 40.0),
        (grown(300, 600), 200.0),
        (grown(60, 400), None),
        (grown(60, 10), None),
        (grown(60, 0), None),
        (grown(20, 600), None),
        (loaded(600), None),
        ([r | {"group_cache_bytes": r["group_bytes"]} for r in grown(60, 600)], None),
    ],
    ids=["fast", "slower", "not for long", "slow", "steady", "too short to tell", "data loaded at once", "files that can go"],
)
def test_when_memory_runs_out_at_this_rate(rows: list[dict[str, Any]], left_s: float | None, tmp_path: Path) -> None:
    made = watched(tmp_path, [])
    made.samples.rows = rows
    found = made.samples.runs_out_in()
    assert found == (pytest.approx(left_s) if left_s else None)


@pytest.mark.parametrize(("warn", "used_mib", "lines"), [(True, 600, 1), (True, 10, 0), (False, 600, 0)])
def test_it_is_said_once_and_only_where_asked_for(
    warn: bool, used_mib: int, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    made = watched(tmp_path, said, warn=warn)
    made.samples.rows = grown(60, used_mib)
    monkeypatch.setattr(made.samples, "take", lambda *_: {})
    made._sample()
    made._sample()
    assert said == ["memory will run out in about 40.0 s at the present rate"] * lines


@pytest.mark.parametrize(("warn", "before_s", "lines"), [(True, 10.0, 1), (True, 500.0, 0), (False, 10.0, 0)])
def test_a_silence_longer_than_any_before_is_told_once(
    warn: bool, before_s: float, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    made = watched(tmp_path, said, warn=warn, stall_s=120.0)
    assert made.log is not None
    made.log.longest_silence_s = before_s
    monkeypatch.setattr(collecting.stacks, "take_stacks", lambda *_: ([], "py-spy is not installed"))
    monkeypatch.chdir(tmp_path / "b")
    begun = made.log.last
    for after_s in (100, 180, 240):
        monkeypatch.setattr(growth, "time", SimpleNamespace(monotonic=lambda: begun + after_s, time=time.time))  # noqa: B023
        made._watch_silence()
    assert said == ["no output for 3 min 0 s, longer than ever before; stacks are taken"] * lines
    assert [c["why"] for c in made.unavailable if c["what"] == "stacks"] == ["py-spy is not installed"]


def test_shortly_before_the_time_limit_the_stacks_are_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = watched(tmp_path, [], time_limit_s=time.time() + growth.STACKS_BEFORE_LIMIT_S / 2)
    taken: list[str] = []
    monkeypatch.setattr(collecting.stacks, "take_stacks", lambda _, folder, *_more: (taken.append(folder) or [], ""))
    made._watch_silence()
    made._watch_silence()
    assert taken == [made.bundle.path("stacks")]
