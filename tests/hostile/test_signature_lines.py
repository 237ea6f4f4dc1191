"""Lines made of every signature's own examples to cost much: an answer within the time that is promised for a megabyte."""

import random
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database, Signature, builtin_folder, read_folders
from scripts.lint.hostile_lines import hostile_lines
from tests.hostile.inputs import CAUSE, OOM

MEGABYTE = 1 << 20
LIMIT_S = 5.0  # of processor time for a megabyte
SIGNATURES = [s for cause in read_folders([builtin_folder()])[0] for s in cause.signatures]
FAMILIES = sorted({s.cause.partition(".")[0] for s in SIGNATURES})


def megabyte(signatures: Iterable[Signature], size: int) -> bytes:
    """Hostile lines of about `size` characters of `signatures`, in a mixed order, up to a megabyte."""
    lines = [line for s in signatures for line in hostile_lines(s, size)]
    random.Random(7).shuffle(lines)
    return "\n".join(lines)[:MEGABYTE].encode() + b"\n"


def analysed(data: bytes, folder: Path, knowledge: Database) -> float:
    """The processor time of an analysis of `data` with a clear kill behind it, which must be told."""
    (folder / "hostile.log").write_bytes(data + OOM)
    begun = time.process_time()
    report = pipeline.analyze_paths([folder], "case", knowledge)
    took = time.process_time() - begun
    assert CAUSE in {c.id for c in report.causes}
    assert "internal" not in {w.kind for w in report.warnings}
    return took


@pytest.mark.seconds
@pytest.mark.parametrize("size", [pytest.param(500, marks=pytest.mark.slow), 8000])
def test_lines_of_all_signatures_are_read_in_time(size: int, tmp_path: Path, knowledge: Database) -> None:
    some = random.Random(3).sample(SIGNATURES, 2 * MEGABYTE // (40 * size) + 20)
    assert analysed(megabyte(some, size), tmp_path, knowledge) < LIMIT_S


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_lines_of_a_family_are_read_in_time(family: str, tmp_path: Path, knowledge: Database) -> None:
    own = [s for s in SIGNATURES if s.cause.startswith(f"{family}.")]
    assert analysed(megabyte(own, 8000), tmp_path, knowledge) < LIMIT_S


@pytest.mark.parametrize(
    "line", ["DataLoader worker (pid 7) is healthy\n", "RuntimeError: worker 3 restarted\n", "Killed process \n"]
)
def test_harmless_lines_hide_no_kill(line: str, tmp_path: Path, knowledge: Database) -> None:
    analysed((line * (MEGABYTE // len(line))).encode(), tmp_path, knowledge)
