"""The hash of a folder of signatures: files that did not change are not read for it."""

import os
from pathlib import Path

import pytest

from forensics.database import files
from forensics.database.files import content_hash


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FORENSICS_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "mine"
    (made / "memory").mkdir(parents=True)
    (made / "memory" / "a.yaml").write_text("cause: a\n")
    return made


def test_files_that_did_not_change_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = content_hash([folder])
    monkeypatch.setattr(files, "_content", lambda path: pytest.fail(f"{path} was read"))
    assert content_hash([folder]) == first


def test_each_change_is_seen(folder: Path) -> None:
    path = folder / "memory" / "a.yaml"
    seen = [content_hash([folder])]
    path.write_text("cause: b\n")
    os.utime(path, ns=(1, 1))  # a copy may keep the time of its model
    seen.append(content_hash([folder]))
    (folder / "memory" / "b.yaml").write_text("cause: a\n")
    seen.append(content_hash([folder]))
    path.unlink()
    seen.append(content_hash([folder]))
    assert len(set(seen)) == len(seen)


def test_files_of_one_content_have_one_hash(folder: Path) -> None:
    before = content_hash([folder])
    (folder / "memory" / "a.yaml").write_text("cause: a\n")
    assert content_hash([folder]) == before
