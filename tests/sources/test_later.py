"""Short files of a folder with very many are opened where they are read: the same report as if they had been opened before."""

import gzip
from collections import Counter
from pathlib import Path

import pytest
from msgspec import to_builtins

from forensics import pipeline, sources
from forensics.cli.output import open_sources
from forensics.core.errors import SourceError
from forensics.database import Database
from forensics.pipeline import source_analysis
from forensics.sources import blob
from forensics.sources.files import open_regular

DOCKER = '{"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.1Z"}\n' * 3
FILES = {
    "a.log": b"2026-11-21 00:06:18,812 INFO trainer: step 378 loss 0.5\n" * 9,
    "b.bin": bytes(range(256)) * 20,
    "c.log.gz": gzip.compress(b"step 1\nRuntimeError: no\n"),
    "d.json": DOCKER.encode(),
    "e.log": b"",
    "f.log": b"trainer-1  | Traceback (most recent call last):\ntrainer-1  | x\ntrainer-1  | KeyError: 'lr'\n",
    "g.log": b"old\n",
    "g.log.1": b"older\n",
    "h.bin": b"\x7fELF" + bytes(200),
    "i.txt": "\ufeffstep 1 loss 0.5\n".encode("utf-16-le"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize("parked", [1, 500])
def test_the_report_does_not_depend_on_when_files_are_opened(
    folder: Path, parked: int, knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = to_builtins(pipeline.analyze_paths([folder], "case", knowledge))
    monkeypatch.setattr(sources, "MIN_LATER_FILES", 1)
    monkeypatch.setattr(source_analysis, "MIN_PARKED_SOURCES", parked)
    waiting = [s.name for s in sources.open_paths([folder], lambda _w: None, later=True) if s.opens]
    assert {Path(name).name for name in waiting} == FILES.keys() - {"d.json", "e.log", "g.log", "g.log.1"}
    assert to_builtins(pipeline.analyze_paths([folder], "case", knowledge)) == before
    assert len(before["warnings"]) > 3


def test_the_command_opens_files_where_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MIN_LATER_FILES", 1)
    (source,) = [s for s in open_sources([folder], lambda _w: None) if s.name.endswith("a.log")]
    assert source.opens


def test_a_file_that_waits_is_opened_once(folder: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Counter[str] = Counter()

    def counted(path: Path | str, top: str | None = None) -> object:
        opened[Path(path).name] += 1
        return open_regular(path, top)

    monkeypatch.setattr(blob, "open_regular", counted)
    monkeypatch.setattr(sources, "MIN_LATER_FILES", 1)
    (source,) = [s for s in sources.open_paths([folder], lambda _w: None, later=True) if s.name.endswith("a.log")]
    assert not opened["a.log"]
    (found,) = source_analysis.analyze_sources([source], knowledge, lambda _w: None)
    assert (found.scan.lines, opened["a.log"]) == (9, 1)
    assert b"".join(found.scan.source.blocks(lambda _w: None)) == FILES["a.log"]  # to read it again is another opening


def test_where_none_can_be_read_the_error_is_the_same(
    tmp_path: Path, knowledge: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("b.bin", "h.bin"):
        (tmp_path / name).write_bytes(FILES[name])
    with pytest.raises(SourceError) as before:
        pipeline.analyze_paths([tmp_path], "case", knowledge)
    monkeypatch.setattr(sources, "MIN_LATER_FILES", 1)
    with pytest.raises(SourceError) as later:
        pipeline.analyze_paths([tmp_path], "case", knowledge)
    assert str(later.value) == str(before.value)
