"""The same bytes get one answer, whether they come from a file or on standard input."""

import io
from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.database import Database
from forensics.model import Report, Warning
from forensics.sources.stdin import STDIN_NAME, stream_sources
from tests.report.samples import CASES, ROOT, third

KILLS = "".join(
    f"Aug  4 06:{minute:02d}:02 desk kernel: greeter invoked oom-killer: gfp_mask=0xd0, order=2, oom_adj=0\n"
    f"Aug  4 06:{minute:02d}:02 desk kernel: Killed process {3300 + minute} (program-{minute})\n"
    for minute in range(8)
)  # without a year: only the time at which a log was written tells it


def answer(report: Report) -> dict[str, Any]:
    """What must not depend on the way in which a log came in."""
    first = report.causes[0]
    told = {"cause": first.id, "probability": first.probability, "lines": [p.line for p in first.evidence], "where": first.where}
    return told | {"verdict": report.verdict, "incidents": len(report.incidents)}


def by_file(path: Path, knowledge: Database) -> dict[str, Any]:
    return answer(pipeline.analyze_paths([path], "", knowledge))


def by_stream(data: io.BufferedIOBase, knowledge: Database) -> dict[str, Any]:
    noted: list[Warning] = []
    return answer(pipeline.analyze(stream_sources(data, STDIN_NAME, noted.append), "", knowledge, noted))  # type: ignore[arg-type]


@pytest.mark.seconds
@pytest.mark.parametrize("case", third(CASES, 2))
def test_a_captured_log_gets_one_answer_from_a_file_and_on_standard_input(case: str, knowledge: Database) -> None:
    for path in sorted(p for p in (ROOT / "sample_logs" / case).rglob("*") if p.is_file() and p.suffix not in (".yaml", ".py")):
        assert by_stream(io.BytesIO(path.read_bytes()), knowledge) == by_file(path, knowledge), path.name


def test_stamps_without_a_year_part_incidents_on_standard_input_too(tmp_path: Path, knowledge: Database) -> None:
    path = tmp_path / "kern.log"
    path.write_text(KILLS)
    from_file = by_file(path, knowledge)
    assert from_file["incidents"] == 8
    assert by_stream(io.BytesIO(KILLS.encode()), knowledge) == from_file
    with path.open("rb") as redirected:
        assert by_stream(redirected, knowledge) == from_file
