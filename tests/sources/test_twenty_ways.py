"""A captured out-of-memory kill, wrapped in every way people send logs: the same cause, on the right line of the original."""

import io
from pathlib import Path

import pytest

from forensics import pipeline, sources
from forensics.database import Database
from forensics.model import Report, Warning
from forensics.sources.stdin import stream_sources
from tests.sources.wrapping import WAYS

LOG = Path(__file__).parents[2] / "sample_logs" / "oom_kernel_log_only" / "dmesg.log"
CAUSE = "host_memory.oom_cgroup"
WORDS = "Memory cgroup out of memory: Killed process"
LINE = next(i for i, x in enumerate(LOG.read_text().splitlines(), 1) if WORDS in x)


def said(report: Report) -> tuple[str, bool]:
    first = report.causes[0]
    return first.id, any(p.line == LINE and WORDS in p.text for p in first.evidence)


@pytest.mark.seconds
@pytest.mark.parametrize("way", WAYS)
def test_a_file_without_a_telling_name(way: str, tmp_path: Path, knowledge: Database) -> None:
    path = tmp_path / "f"
    path.write_bytes(WAYS[way](LOG.read_bytes()))
    assert said(pipeline.analyze_paths([path], "case", knowledge)) == (CAUSE, True)


@pytest.mark.seconds
@pytest.mark.parametrize("way", WAYS)
def test_a_log_wrapped_in_any_way_is_read_from_standard_input(way: str, knowledge: Database) -> None:
    noted: list[Warning] = []
    given = stream_sources(io.BytesIO(WAYS[way](LOG.read_bytes())), "<stdin>", noted.append)
    assert said(pipeline.analyze(given, "case", knowledge, noted)) == (CAUSE, True)


def test_members_are_named_as_their_place(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    path.write_bytes(WAYS["zip in tar.gz"](LOG.read_bytes()))
    noted: list[Warning] = []
    found = {s.name: s.compression for s in sources.open_paths([path], noted.append)}
    assert found == {
        f"{path}!old.zip!notes/readme": "gzip+tar+zip",
        f"{path}!old.zip!var/log/kern.log": "gzip+tar+zip",
        f"{path}!notes/readme": "gzip+tar",
    }
    assert [(w.kind, w.message) for w in noted] == [("skipped", "members that were not read: 1 empty")]
