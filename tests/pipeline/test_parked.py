"""What is kept of very many sources: packed, and as it was where it is asked for."""

import pickle
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import asdict

from forensics import correlation, pipeline
from forensics.advice.curves import MAX_CURVE_POINTS, DrawnCurves, Ranked, last_reading, longest_curves
from forensics.database import Database
from forensics.model import Curve, Line, Report, Source, Warning
from forensics.outcome.lane_columns import ends_of, kinds_of
from forensics.outcome.own_lanes import OwnLanes
from forensics.pipeline import source_analysis
from forensics.pipeline.parked import Packed, PackedLines, parked_scans
from forensics.pipeline.source_analysis import SourceAnalysis, analyze_sources

SAMPLES = Path("sample_logs")
STEPS = "".join(
    f"2026-11-21 00:06:{i % 60:02d},812 INFO trainer: step {i} loss {1 / (i + 1):.4f}\n[rank{i % 9}]: step {i} | loss: 0.5\n"
    for i in range(25)
)
LOGS = [
    STEPS,
    STEPS + "[rank3]: RuntimeError: no\n",
    "10%|#  | 1/10 [00:01<00:09, 1.0it/s]\r20%|## | 2/10 [00:02<00:08, 1.0it/s]\n",
]


def _analyses(knowledge: Database, workers: int, count: int = 3) -> list[SourceAnalysis]:
    sources = [Source(f"{i}.log", lambda _w, i=i: iter([LOGS[i % 3].encode()]), size=len(LOGS[i % 3])) for i in range(count)]
    return analyze_sources(sources, knowledge, lambda _w: None, workers)


def _plain(found: SourceAnalysis) -> list[object]:
    lanes = [asdict(lane) | {"last_lines": tuple(lane.last_lines)} for lane in found.lanes]
    return [tuple(found.scan.head), tuple(found.scan.tail), tuple(found.samples), lanes, found.is_dated, found.zone, found.pids]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_was_packed_is_as_it_was(workers: int, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 150 if workers == 2 else 3  # enough for processes
    before = _analyses(knowledge, 1, count)
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", 1)
    parked = _analyses(knowledge, workers, count)
    assert isinstance(parked[-1].scan.head, PackedLines) and parked[-1].scan.head is parked[-1].scan.tail
    assert [_plain(a) for a in parked] == [_plain(a) for a in before]
    size, whole = (len(pickle.dumps((a.scan.head, a.samples))) for a in (parked[0], before[0]))
    assert size < whole / 2


def test_lanes_of_many_sources_share_what_they_have_in_common(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", 1)
    first, _, _, second = _analyses(knowledge, 1, 4)
    ranks = [[lane for lane in a.lanes if lane.entity.kind == "rank"] for a in (first, second)]
    assert len(ranks[0]) == 9
    for a, b in zip(*ranks, strict=True):
        assert a.digest is b.digest and a.entity is b.entity


def test_how_lanes_in_columns_end_is_told_without_making_them(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _analyses(knowledge, 1)
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", 1)
    for parked, whole in zip(_analyses(knowledge, 1), before, strict=True):
        ends, kept = ends_of(parked.lanes), OwnLanes([parked.lanes])
        assert [end[:4] for end in ends] == [end[:4] for end in ends_of(whole.lanes)]
        assert kinds_of(parked.lanes) == kinds_of(whole.lanes) and len(parked.lanes) == len(whole.lanes)
        assert any(end[4] is None for end in ends)
        every = OwnLanes([whole.lanes])
        assert (kept.digests, kept.last_begun, len(kept)) == (every.digests, every.last_begun, len(every))
        assert (kept.worst, kept.largest) == (every.worst, every.largest)


@pytest.mark.parametrize("case", ["oom_cgroup_python", "healthy_dmesg", "bad_argument"])
def test_a_report_of_packed_sources_is_the_same(case: str, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def report() -> Report:
        return pipeline.analyze_paths([SAMPLES / case], case, knowledge)

    before = report()
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", 1)
    assert to_builtins(report()) == to_builtins(before)


def test_packed_values_are_a_sequence() -> None:
    lines = [Line(i, f"line {i} \xe9\x00") for i in range(1, 9)]
    packed = Packed(lines, Line)
    assert (len(packed), packed[0], packed[-2:], [*packed]) == (8, lines[0], (*lines[-2:],), lines)
    sample = correlation.clock_samples(_scan_of("2026-05-01T10:00:00+05:30 x"))
    assert [*Packed(sample, correlation.ClockSample)] == sample and sample[0].stamp


def test_lines_of_several_sources_are_packed_together() -> None:
    scans = [_scan_of(text) for text in ("step 1 \xe9", "", "[red] \r bar")]
    packed = parked_scans(scans)
    assert [tuple(one.head) for one in packed] == [scan.head for scan in scans]
    assert packed[0].head.text is packed[2].head.text  # type: ignore[attr-defined]
    assert (packed[0].head[0], packed[0].tail[:]) == (Line(1, "step 1 \xe9"), ())


def _scan_of(text: str) -> source_analysis.Scan:
    return source_analysis.Scan(Source("a", lambda _w: iter(())), len(text), 1, (), {}, (Line(1, text),), ())


def _ranked(rng: random.Random, source: int) -> Sequence[Ranked]:
    made = []
    for name in rng.sample(["loss", "rss", "it/s"], rng.randrange(4)):
        points = rng.randrange(8, MAX_CURVE_POINTS)
        kind = "loss" if name == "loss" else "memory" if name == "rss" else "throughput"
        curve = Curve(name, kind, "", f"{source:04d}.log", None, tuple((i, float(i)) for i in range(points)))
        made.append(((-points, curve.source, name, 0, ""), curve))
    return made


def test_the_curves_of_very_many_sources_are_those_that_a_report_shows() -> None:
    rng = random.Random(3)
    sources, drawn = [_ranked(rng, i) for i in range(1500)], DrawnCurves()
    for found in sources:
        drawn.take(found)
    every = [one for found in sources for one in found]
    kept = [one for found in drawn.by_source().values() for one in found]
    assert longest_curves(kept) == longest_curves(every)
    assert last_reading(kept) == last_reading(every)
    assert len(kept) < len(every) / 2


def test_warnings_of_packed_sources_are_told(knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", 1)
    noted: list[Warning] = []

    def broken(warn: object) -> object:
        yield b"step 1\n"
        noted_in_source = Warning("truncated", "it ended", "a.log")
        warn(noted_in_source)  # type: ignore[operator]

    found = analyze_sources([Source("a.log", broken)], knowledge, noted.append, 1)  # type: ignore[arg-type]
    assert [w.kind for w in noted] == ["truncated"] and found[0].scan.lines == 1
