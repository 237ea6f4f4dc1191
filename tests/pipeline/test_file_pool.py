"""Many small sources, read by processes: the same report, in order, whatever happens to a process."""

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Source
from forensics.pipeline import cases
from forensics.pipeline.file_pool import MAX_SMALL_BYTES, MIN_POOLED_SOURCES, MIN_WORK, SOURCES_PER_BATCH, is_small, read_in_pool
from forensics.sources import open_paths
from tests.report.samples import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
HERE = os.getpid()
T = TypeVar("T")
SOURCES = [
    Source(f"rank{i}.log", lambda _warn: iter((b"x",)), size=1) for i in range(MIN_POOLED_SOURCES + SOURCES_PER_BATCH // 2)
]


def forked() -> bool:
    return os.getpid() != HERE


def each(read: Callable[[Source], T]) -> Callable[[Sequence[Source]], list[T]]:
    """What reads a batch, of what reads a source."""
    return lambda batch: [read(source) for source in batch]


def test_results_come_in_order_from_other_processes() -> None:
    found = list(read_in_pool(SOURCES, each(lambda source: (source.name, os.getpid())), 3))
    assert [name for name, _ in found] == [s.name for s in SOURCES]
    assert found[0][1] == HERE  # what its reading compiled the others inherit
    assert HERE not in {pid for _, pid in found[1:]} and len({pid for _, pid in found[1:]}) <= 3


@pytest.mark.parametrize(("sources", "processes"), [(SOURCES, 1), (SOURCES[: MIN_POOLED_SOURCES - 1], 4)])
def test_few_sources_and_one_process_are_read_here(sources: list[Source], processes: int) -> None:
    assert set(read_in_pool(sources, each(lambda _source: os.getpid()), processes)) == {HERE}


def test_what_a_killed_process_had_is_read_here() -> None:
    def read(source: Source) -> tuple[str, bool]:
        if source.name == f"rank{SOURCES_PER_BATCH + 1}.log" and forked():
            os.kill(os.getpid(), signal.SIGKILL)
        return source.name, forked()

    found = list(read_in_pool(SOURCES, each(read), 2))
    assert [name for name, _ in found] == [s.name for s in SOURCES]
    assert not dict(found)[f"rank{SOURCES_PER_BATCH + 1}.log"]


def test_where_no_more_processes_are_to_be_had_all_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """One was started when the bound was met; it does not stay."""
    fork, forks = os.fork, list[int]()

    def bounded() -> int:
        if forks:
            raise BlockingIOError("Resource temporarily unavailable")
        forks.append(1)
        return fork()

    before = set(multiprocessing.active_children())
    monkeypatch.setattr(os, "fork", bounded)
    assert set(read_in_pool(SOURCES, each(lambda _source: os.getpid()), 3)) == {HERE}
    for process in set(multiprocessing.active_children()) - before:
        process.join(5)
    assert forks and not set(multiprocessing.active_children()) - before


def test_a_process_is_given_several_sources_at_once() -> None:
    """All of them do one stage before the next one, see source_analysis."""
    found = list(read_in_pool(SOURCES, lambda batch: [len(batch)] * len(batch), 2))
    assert found[0] == 1 and set(found[1:]) >= {SOURCES_PER_BATCH}


def test_the_last_batches_are_short_so_that_all_processes_end_together() -> None:
    found = list(read_in_pool(SOURCES * 2, lambda batch: [len(batch)] * len(batch), 3))
    assert found[-1] <= 2 and SOURCES_PER_BATCH in found


def test_an_error_is_raised_here() -> None:
    def read(source: Source) -> str:
        if source.name == "rank40.log":
            raise LookupError(source.name)
        return source.name

    with pytest.raises(LookupError, match=r"rank40\.log"):
        list(read_in_pool(SOURCES, each(read), 2))


def test_closing_ends_the_processes() -> None:
    before = set(multiprocessing.active_children())
    with closing(read_in_pool(SOURCES, each(lambda source: source.name), 2)) as shares:
        assert next(shares) == "rank0.log"
        assert len(set(multiprocessing.active_children()) - before) == 2
    assert not set(multiprocessing.active_children()) - before


def test_only_short_files_that_lie_as_they_are_can_be_shared(tmp_path: Path) -> None:
    (tmp_path / "plain.log").write_text("step 1 loss 0.5\n")
    (tmp_path / "long.log").write_text("step 1 loss 0.5\n" * (MAX_SMALL_BYTES // 16 + 1))
    (tmp_path / "docker.log").write_text('{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.1Z"}\n')
    (tmp_path / "kern.log.1").write_text("Aug 22 03:00:07 node kernel: a\n")  # of a set, which is read in order
    (tmp_path / "kern.log").write_text("Aug 22 03:00:08 node kernel: b\n")
    found = {Path(s.name).name: is_small(s) for s in open_paths([tmp_path], lambda _warning: None)}
    assert found == {"plain.log": True, "long.log": False, "docker.log": False, "kern.log.1": False, "kern.log": False}


@pytest.mark.seconds
def test_a_report_does_not_depend_on_the_number_of_processes(tmp_path: Path, knowledge: Database) -> None:
    """Failures of some kinds, more files than one process takes: those that processes read and those that are read here among each other."""
    for case in sorted((ROOT / "sample_logs").iterdir())[::12]:
        for path in sorted(p for p in case.rglob("*") if p.is_file() and p.name != "expected.yaml"):
            if path.stat().st_size < 50_000:
                (tmp_path / f"{case.name}-{path.name}").write_bytes(path.read_bytes())
    for number in range(MIN_POOLED_SOURCES + SOURCES_PER_BATCH):
        (tmp_path / f"rank{number}.log").write_text(f"step {number} loss nan\n" * 30 + "[rank0]: ValueError: no such thing\n")
    assert sum(map(is_small, open_paths([tmp_path], lambda _warning: None))) > MIN_POOLED_SOURCES + SOURCES_PER_BATCH
    reports = [msgspec.json.encode(pipeline.analyze_paths([tmp_path], "case", knowledge, workers=n)) for n in (1, 3)]
    assert reports[0] == reports[1]


def test_what_comes_from_a_process_is_packed_there_and_unpacked_here() -> None:
    def pack(names: Sequence[str]) -> tuple[Sequence[str], int]:
        return names, os.getpid()

    def unpack(packed: tuple[Sequence[str], int]) -> list[str]:
        assert packed[1] != HERE
        return [name.upper() for name in packed[0]]

    found = list(read_in_pool(SOURCES, each(lambda source: source.name), 2, pack, unpack))
    assert found == [SOURCES[0].name, *(s.name.upper() for s in SOURCES[1:])]


@pytest.mark.seconds
def test_reports_on_cases_do_not_depend_on_the_number_of_processes(tmp_path: Path, knowledge: Database) -> None:
    """Short cases, one of more files than that, one in which nothing can be read, and logs beside them."""
    failed = sorted(path for path in (ROOT / "sample_logs").iterdir() if path.is_dir())[::12]
    for case in failed:
        shutil.copytree(case, tmp_path / case.name)
    for number in range(MIN_POOLED_SOURCES):
        (tmp_path / "long").mkdir(exist_ok=True)
        (tmp_path / "long" / f"rank{number}.log").write_text(
            f"step {number} loss nan\n[rank{number}]: ValueError: no such thing\n"
        )
        (tmp_path / f"{number}.a.log").write_text(f"step {number}\nIndexError: list index out of range\n")
    (tmp_path / "empty").mkdir()
    read = [[*pipeline.analyze_folders(tmp_path, knowledge, workers=n)] for n in (1, 3)]
    assert len(read[0]) == len(failed) + MIN_POOLED_SOURCES + 2
    assert msgspec.json.encode(read[0]) == msgspec.json.encode(read[1])


def test_short_cases_are_read_by_other_processes(tmp_path: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "CASE_BYTES", MIN_WORK // 4)
    for name in "abcdef":
        (tmp_path / f"{name}.log").write_text("step 1\nIndexError: list index out of range\n")
    whole = cases.analyze_paths

    def telling(paths: Sequence[Path], case: str, *given: Any, **options: Any) -> Any:
        return msgspec.structs.replace(whole(paths, case, *given, **options), case=f"{case} {os.getpid()}")

    monkeypatch.setattr(cases, "analyze_paths", telling)
    found = [report.case.split() for report in pipeline.analyze_folders(tmp_path, knowledge, workers=2)]
    assert [name for name, _ in found] == [f"{name}.log" for name in "abcdef"]
    assert [pid == str(HERE) for _, pid in found] == [True, *[False] * 5]
