"""What must not matter does not: the order in which files are given, and a healthy log of another job beside them."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report, Source
from tests.conftest import text_source
from tests.report.samples import CASES, ROOT, sixth, third

pytestmark = pytest.mark.seconds


def files(case: str) -> list[Path]:
    return sorted(p for p in (ROOT / "sample_logs" / case).rglob("*") if p.is_file() and p.name != "expected.yaml")


def logs(case: str) -> list[Source]:
    return [text_source(p.name, p.read_bytes()) for p in files(case)]


SEVERAL = [case for case in CASES if len(files(case)) > 1]
ALONE: dict[str, Report] = {}


def alone(case: str, knowledge: Database) -> Report:
    """The report on the files of `case` in their usual order, made once."""
    if case not in ALONE:
        ALONE[case] = pipeline.analyze(logs(case), case, knowledge)
    return ALONE[case]


def said(report: Report) -> object:
    """Everything that is decided; not what was read."""
    return report.verdict, report.causes, report.missing, report.timeline, report.incidents


@pytest.mark.parametrize("case", third(SEVERAL, 0))
def test_the_order_of_files_changes_nothing(case: str, knowledge: Database) -> None:
    given = logs(case)
    expected = said(alone(case, knowledge))
    random.Random(case).shuffle(given)
    assert said(pipeline.analyze(given, case, knowledge)) == expected
    assert said(pipeline.analyze(reversed(given), case, knowledge)) == expected


def healthy(megabytes: float) -> Iterator[bytes]:
    """A made log of a run that goes well, of a day on which nothing else happened."""
    chance, first, size = random.Random(7), 0, 0
    while size < megabytes * 1e6:
        rows = []
        for step in range(first, first + 2000):
            loss = 2.3 / (1 + step / 500) + chance.random() / 100
            clock = f"2026-07-03 {step // 3600 % 24:02d}:{step // 60 % 60:02d}:{step % 60:02d},000"
            rows.append(f"{clock} INFO trainer: step {step} loss {loss:.4f} lr 3.0e-04 tokens/s {9000 + chance.randrange(50)}\n")
        first += 2000
        block = "".join(rows).encode()
        size += len(block)
        yield block


def beside_a_healthy_log(case: str, knowledge: Database, megabytes: float) -> tuple[Report, Report]:
    other = Source("zz_other_job.log", lambda _warn: healthy(megabytes))
    return alone(case, knowledge), pipeline.analyze([*logs(case), other], case, knowledge)


NEAR = 0.3  # a second log makes some causes less sure, and none another
# Here only the host's log tells why, and time alone ties it to the job. Beside a second job's log it may be that job's.
TIED_BY_TIME = ("jupyter_segfault_after_oom", "mmap_io_error", "papermill_oom", "swap_full")


def same(by_itself: Report, beside: Report) -> None:
    first, again = by_itself.causes[0], beside.causes[0]
    assert (beside.verdict, again.id, again.role) == (by_itself.verdict, first.id, first.role)
    assert again.probability == pytest.approx(first.probability, abs=NEAR)


@pytest.mark.parametrize("case", sixth([c for c in CASES if not c.startswith("healthy") and c not in TIED_BY_TIME], 1))
def test_an_unrelated_healthy_log_changes_neither_verdict_nor_first_cause(case: str, knowledge: Database) -> None:
    same(*beside_a_healthy_log(case, knowledge, 0.2))


@pytest.mark.parametrize("case", TIED_BY_TIME)
def test_an_unrelated_healthy_log_takes_no_crash_away(case: str, knowledge: Database) -> None:
    by_itself, beside = beside_a_healthy_log(case, knowledge, 0.2)
    assert by_itself.verdict == beside.verdict == "crash"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["jupyter_oom", "torchrun_keyerror", "dataloader_worker_killed", "leak_memoised"])
def test_an_unrelated_healthy_log_of_100_mb_changes_neither_verdict_nor_first_cause(case: str, knowledge: Database) -> None:
    same(*beside_a_healthy_log(case, knowledge, 100))
