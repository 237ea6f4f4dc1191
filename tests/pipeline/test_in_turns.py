"""Several small sources do one stage after another together; a source with a full date infers its clock there."""

from collections.abc import Generator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from forensics import sources
from forensics.correlation import infer_clock
from forensics.database import Database
from forensics.model import Source, Warning
from forensics.pipeline import placement
from forensics.pipeline.source_analysis import analyze_sources
from forensics.pipeline.stages import in_turns
from forensics.pipeline.together import MAX_TOGETHER_BYTES, read_together
from tests.report.samples import ROOT


def test_all_do_their_first_stage_before_the_second_one() -> None:
    done: list[str] = []

    def work(name: str, stages: int) -> Generator[None, None, str]:
        for stage in range(stages):
            done.append(f"{name}{stage}")
            yield
        return name

    assert in_turns([work("a", 2), work("b", 0), work("c", 3)]) == ["a", "b", "c"]  # type: ignore[list-item]
    assert done == ["a0", "c0", "a1", "c1", "c2"]


def test_of_large_sources_each_is_read_by_itself() -> None:
    sizes = [1000, 2000, MAX_TOGETHER_BYTES - 3000, 1, MAX_TOGETHER_BYTES + 1, 5, 5]
    given = [Source(str(i), lambda _: iter(()), size=size) for i, size in enumerate(sizes)]
    assert [[int(s.name) for s in part] for part in read_together(given)] == [[0, 1, 2], [3], [4], [5, 6]]


@pytest.mark.parametrize("case", ["gloo_collective_timeout", "oom_cgroup_python", "healthy_dmesg", "guard_kills_deadlock"])
def test_the_clock_of_a_dated_source_is_that_which_its_lines_show(case: str, knowledge: Database) -> None:
    for found in analyze_sources(sources.open_paths([ROOT / "sample_logs" / case], print), knowledge, print):
        assert (found.clock is not None) == found.is_dated
        if found.clock:
            noted: list[Warning] = []
            clock = infer_clock(found.scan.source, found.samples, [], noted.append)
            assert found.clock.of(found.samples) == clock
            assert (found.clock.noted, found.clock.is_unanchored) == (tuple(noted), clock.unanchored())


def test_only_a_recorded_zone_has_it_inferred_again(tmp_path: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"2026-08-22 03:00:{s:02d} step {s} loss 0.5\n" for s in range(20))
    (tmp_path / "train.log").write_text(lines)
    (tmp_path / "undated.log").write_text("".join(f"Aug 22 03:00:{s:02d} node app[7]: step {s} loss 0.5\n" for s in range(20)))
    [dated, other] = analyze_sources(sources.open_paths([tmp_path], print), knowledge, print)
    asked: list[str] = []

    def inferred(source: Source, *others: object) -> object:
        asked.append(Path(source.name).name)
        return infer_clock(source, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(placement.correlation, "infer_clock", inferred)
    clocks = partial(placement.clocks_of, events={}, knowledge=knowledge, noted=[])
    found = clocks([dated, other])
    assert asked == ["undated.log"]
    assert found[other.name].start and found[other.name].start.year == 2026
    zoned = replace(dated, zone=timedelta(hours=9))
    assert clocks([zoned, other])[dated.name].zone != found[dated.name].zone
    assert asked[1:] == ["train.log", "undated.log"]
