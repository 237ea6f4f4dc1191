"""Healthy runs of a machine that trains, in chunks: none is called a crash.

The logs in `healthy/` were captured by `python -m scripts.healthy`; nothing in them was changed but host names, addresses and
tokens. Each is cut into chunks as a person would paste them: so much for a beginning and an end that are missing.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics import pipeline
from forensics.database import Database
from tests.conftest import text_source

FOLDER = Path(__file__).parent / "healthy"
CHUNK_BYTES = 2000
LEAST_BYTES = 300
RECORD = re.compile(r"[^\n]{0,40}?\d\d:\d\d|\[|[IWE]\d{4} |INFO|DEBUG|WARN")


def chunks() -> Iterator[tuple[str, str]]:
    """(name, text) of each chunk: CHUNK_BYTES, up to the start of a record, so that no traceback loses its head."""
    for path in sorted(FOLDER.glob("*.log")):
        held: list[str] = []
        size, first = 0, 1
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            if size > CHUNK_BYTES and (RECORD.match(line) or size > 4 * CHUNK_BYTES):
                yield f"{path.stem}:{first}", "\n".join(held) + "\n"
                held, size, first = [], 0, number
            held.append(line)
            size += len(line) + 1
        if size >= LEAST_BYTES:
            yield f"{path.stem}:{first}", "\n".join(held)


CHUNKS = list(chunks())


def test_the_healthy_logs_are_enough_to_tell_a_share() -> None:
    assert len(CHUNKS) >= 200
    assert len({name.partition(":")[0] for name, _ in CHUNKS}) >= 20


@pytest.mark.seconds
def test_hardly_any_chunk_of_a_healthy_run_is_a_crash(knowledge: Database) -> None:
    """One in fifteen at most (measured: 14 of 217, of which 7 end with the very line of an error that was overcome)."""
    wrong = []
    for name, text in CHUNKS[::2]:
        report = pipeline.analyze([text_source("run.log", text)], "case", knowledge)
        first = report.causes[0]
        if report.verdict == "crash":
            wrong.append(f"{name}: {first.id} {first.probability:.2f} {[p.text[:200] for p in first.evidence[:2]]}")
    assert len(wrong) <= len(CHUNKS[::2]) / 15, "\n".join(wrong)


@pytest.mark.seconds
@pytest.mark.parametrize("run", sorted({name.partition(":")[0] for name, _ in CHUNKS}))
def test_no_whole_healthy_run_is_a_crash(run: str, knowledge: Database) -> None:
    report = pipeline.analyze([text_source("run.log", (FOLDER / f"{run}.log").read_bytes())], "case", knowledge)
    first = report.causes[0]
    assert report.verdict != "crash", f"{first.id} {first.probability:.2f} {[p.text[:200] for p in first.evidence[:3]]}"
